//! A scene drawn through plotters: onto an SVG string or a bitmap.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::font;
use super::scene::{Anchor, Color, Scene, Shape, Symbol, WIDTH};
use crate::error::{Error, ErrorKind, Result};

/// The scene as an SVG element: title and description for screen readers, no ids, nothing from elsewhere.
pub(super) fn svg(scene: &Scene) -> Result<String> {
    let mut drawn = String::new();
    let size = (WIDTH as u32, scene.height as u32);
    draw(scene, SVGBackend::with_string(&mut drawn, size), 0.0)?;
    let shapes = drawn.split_once('>').map_or("", |(_, shapes)| shapes);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {WIDTH} {}\">\n\
         <title>{}</title>\n<desc>{}</desc>{}\n",
        WIDTH / 2,
        scene.height / 2,
        scene.height,
        escaped(&scene.title),
        escaped(&scene.description),
        shapes.trim_end(),
    ))
}

/// The scene as a PNG file.
pub(super) fn png(scene: &Scene) -> Result<Vec<u8>> {
    let size = (WIDTH as u32, scene.height as u32);
    let mut pixels = vec![255; (size.0 * size.1 * 3) as usize];
    draw(
        scene,
        BitMapBackend::with_buffer(&mut pixels, size),
        BITMAP_DROP,
    )?;
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, size.0, size.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    // Flat areas: plain rows compress best.
    encoder.set_filter(png::FilterType::NoFilter);
    encoder.set_compression(png::Compression::Best);
    encoder
        .write_header()
        .and_then(|mut writer| writer.write_image_data(&pixels))
        .map_err(failed)?;
    Ok(file)
}

/// How much lower, in shares of its size, text must stand in a bitmap to be centred: plotters takes the
/// box of the font that is built in for less high than it draws it.
const BITMAP_DROP: f64 = 0.13;

fn draw<B: DrawingBackend>(scene: &Scene, backend: B, text_drop: f64) -> Result<()>
where
    B::ErrorType: 'static,
{
    let area = backend.into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    for shape in &scene.shapes {
        draw_shape(shape, &area, text_drop).map_err(failed)?;
    }
    area.present().map_err(failed)
}

type Drawn<B> = std::result::Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;

fn draw_shape<B: DrawingBackend>(
    shape: &Shape,
    area: &DrawingArea<B, Shift>,
    text_drop: f64,
) -> Drawn<B> {
    match shape {
        Shape::Rect { from, to, color } => {
            area.draw(&Rectangle::new([*from, *to], rgba(*color).filled()))
        }
        Shape::Path {
            points,
            width,
            color,
        } => area.draw(&PathElement::new(
            points.clone(),
            rgba(*color).stroke_width(*width),
        )),
        Shape::Mark {
            symbol,
            at,
            radius,
            color,
        } => draw_mark(*symbol, *at, *radius, rgba(*color), area),
        Shape::Text {
            text,
            at,
            size,
            anchor,
            color,
        } => {
            let horizontal = match anchor {
                Anchor::Left => HPos::Left,
                Anchor::Center => HPos::Center,
                Anchor::Right => HPos::Right,
            };
            let color = rgba(*color);
            let style = TextStyle::from(font::font(*size))
                .color(&color)
                .pos(Pos::new(horizontal, VPos::Center));
            let drop = (size * text_drop).round() as i32;
            area.draw_text(text, &style, (at.0, at.1 + drop))
        }
    }
}

fn draw_mark<B: DrawingBackend>(
    symbol: Symbol,
    (x, y): (i32, i32),
    radius: i32,
    color: RGBAColor,
    area: &DrawingArea<B, Shift>,
) -> Drawn<B> {
    let outline = match symbol {
        Symbol::Circle => return area.draw(&Circle::new((x, y), radius, color.filled())),
        Symbol::Ring => return area.draw(&Circle::new((x, y), radius, color.stroke_width(3))),
        Symbol::Triangle => vec![(0, -4), (4, 3), (-4, 3)],
        Symbol::Square => vec![(-3, -3), (3, -3), (3, 3), (-3, 3)],
        Symbol::Diamond => vec![(0, -4), (4, 0), (0, 4), (-4, 0)],
    };
    // Outlines are in thirds of the radius.
    let corners: Vec<_> = outline
        .into_iter()
        .map(|(dx, dy)| (x + dx * radius / 3, y + dy * radius / 3))
        .collect();
    area.draw(&Polygon::new(corners, color.filled()))
}

fn rgba(Color(red, green, blue, opacity): Color) -> RGBAColor {
    RGBAColor(red, green, blue, opacity)
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn failed(source: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Io, "cannot draw the figure").because(source)
}
