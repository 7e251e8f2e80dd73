/** Which types may stand for which, by family. A family never mixes what a browser shows with what it runs. */
type Family = 'any' | 'image' | 'media' | 'text' | 'pdf' | 'other'

const ANY = ['', 'application/octet-stream', 'binary/octet-stream']
const MEDIA = ['application/ogg', 'application/mp4', 'application/x-matroska']
/** Beside text/*: types of `application` and of `image` that are text. */
const TEXT =
  /^(text\/.*|.*\+(xml|json)|application\/(xml|json|javascript|ecmascript|yaml|x-yaml|toml|sql|x-sh|x-httpd-php|x-javascript))$/

function familyOf(type: string): Family {
  if (ANY.includes(type)) return 'any'
  if (TEXT.test(type)) return 'text'
  if (type.startsWith('image/')) return 'image'
  if (/^(audio|video)\//.test(type) || MEDIA.includes(type)) return 'media'
  return type === 'application/pdf' ? 'pdf' : 'other'
}

/**
 * Whether a file that was declared as one type may be another one. Names of types vary (`image/jpg`,
 * `application/x-zip-compressed`), and browsers guess them from the file's name, so a photo may be of another image type.
 * Text may be declared as a type that we don't know, such as CSV as a spreadsheet.
 */
export function isAccepted(declared: string, sniffed: string): boolean {
  const [wanted, found] = [familyOf(essence(declared)), familyOf(sniffed)]
  if (wanted === 'any' || wanted === found) return true
  return wanted === 'other' && (found === 'text' || found === 'any')
}

/** A type without parameters, in lower case. */
export const essence = (type: string) => (type.split(';')[0] ?? '').trim().toLowerCase()

/** Images that are decoded and served without their metadata. All others are files like any other. */
export const isImage = (type: string) =>
  [...['jpeg', 'png', 'webp', 'gif', 'avif', 'tiff'], ...['heic', 'heif']].includes(
    type.replace('image/', ''),
  ) && type.startsWith('image/')

export const isMedia = (type: string) => familyOf(type) === 'media'
