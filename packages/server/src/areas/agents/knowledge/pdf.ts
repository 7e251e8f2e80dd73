import { getDocumentProxy } from 'unpdf'
import { type Read, TEXT_LENGTH } from './extract.ts'

const PAGES = 5_000

/** The text of a PDF, page by page. Pictures, forms and attachments are left out, and no script runs. */
export async function readPdf(bytes: Uint8Array): Promise<Read> {
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes), {
      ...{ isEvalSupported: false, disableFontFace: true, useSystemFonts: false, verbosity: 0 },
    })
    if (document.numPages > PAGES) return { reason: 'too_long' }
    let text = ''
    for (let no = 1; no <= document.numPages; no++) {
      const page = await document.getPage(no)
      const { items } = await page.getTextContent()
      const lines = items.map((item) =>
        'str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '',
      )
      text += `${lines.join('')}\n\n`
      page.cleanup()
      if (text.length > TEXT_LENGTH) return { reason: 'too_long' }
    }
    // Fonts can map glyphs to anything.
    return { text: text.replaceAll('\0', '').toWellFormed() }
  } catch (error) {
    const { name } = error as Error
    return { reason: name === 'PasswordException' ? 'encrypted' : 'unreadable' }
  }
}
