use lopdf::{Document, Object, Stream, dictionary};

use super::{UNFOLDED_BYTES_MAX, text};
use crate::limits::ReadLimits;

/// A PDF with these streams as its pages.
fn pdf(pages: &[Vec<u8>]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages_id = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
    });
    let kids: Vec<Object> = pages
        .iter()
        .map(|content| {
            let mut stream = Stream::new(dictionary! {}, content.clone());
            stream.compress().unwrap();
            let content = document.add_object(stream);
            let page = document.add_object(dictionary! {
                "Type" => "Page", "Parent" => pages_id, "Contents" => content,
                "Resources" => dictionary! { "Font" => dictionary! { "F1" => font } },
            });
            page.into()
        })
        .collect();
    let count = i64::try_from(kids.len()).unwrap();
    let tree = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
    document.objects.insert(pages_id, Object::Dictionary(tree));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages_id });
    document.trailer.set("Root", catalog);
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn says(words: &str) -> Vec<u8> {
    format!("BT /F1 12 Tf 50 700 Td ({words}) Tj ET").into_bytes()
}

#[test]
fn c03_a_pdf_is_read_page_by_page() {
    let read = text(pdf(&[says("The first page."), says("The second page.")])).unwrap();
    let pages: Vec<&str> = read.text.split('\u{c}').map(str::trim).collect();
    assert_eq!(pages, ["The first page.", "The second page."]);
}

#[test]
fn c03_a_broken_pdf_is_an_error() {
    let whole = pdf(&[says("The only page.")]);
    assert!(text(b"%PDF-1.7\nnothing more".to_vec()).is_err());
    assert!(text(pdf(&[Vec::new()])).is_err());
    // Whatever is cut off or changed, reading ends without taking the process along.
    for at in (0..whole.len()).step_by(7) {
        text(whole[..at].to_vec()).ok();
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        text(changed).ok();
    }
}

#[test]
fn c03_a_pdf_that_unfolds_without_end_is_left_empty() {
    let bomb = vec![b' '; UNFOLDED_BYTES_MAX + 1];
    let bytes = pdf(&[bomb, says("The page behind it.")]);
    assert!(bytes.len() < 1024 * 1024);
    let read = text(bytes).unwrap();
    assert_eq!(read.text.trim(), "The page behind it.");
    assert_eq!((read.lost, read.count), (1, 2));
}

#[test]
fn r01_pages_of_a_pdf_without_text_are_told() {
    let other_font = b"BT /F9 12 Tf 50 700 Td (In a font that is not there.) Tj ET".to_vec();
    let drawn = b"0 0 100 100 re f".to_vec();
    let whole = pdf(&[says("The first page."), says("The second page.")]);
    let flawed = pdf(&[says("The first page."), drawn, other_font]);
    let noted = |bytes: Vec<u8>| {
        let read = crate::read_from("a.pdf", bytes.as_slice(), &ReadLimits::PASSAGES).unwrap();
        read.note().map(|note| note.to_string())
    };
    assert_eq!(noted(whole), None);
    let said = "`a.pdf` was taken in part: 2 of 3 pages gave no text, or not all of it";
    assert_eq!(noted(flawed).as_deref(), Some(said));
}

#[test]
fn c03_a_pdf_that_refers_to_itself_ends() {
    let nested = "<<".repeat(100_000) + "/A " + &"[".repeat(100_000);
    let circle = "%PDF-1.4\n1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj\n2 0 obj <</Type/Pages/Kids[2 0 R]/Count 1>> endobj\n\
                  trailer <</Root 1 0 R>>\n%%EOF";
    assert!(text(circle.as_bytes().to_vec()).is_err());
    assert!(text(format!("%PDF-1.4\n1 0 obj {nested}").into_bytes()).is_err());
}
