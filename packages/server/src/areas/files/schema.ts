import { FileRecord } from '@loquat/protocol'
import { type Static, Type } from 'typebox'
import { Timestamp } from '../../platform/http/schemas.ts'

/** The most files whose URLs one request can ask for. */
const FILES = 100

/** 32 hexadecimal characters. */
export const FILE_ID = /^[0-9a-f]{32}$/

/** A type without parameters. */
export const MIME_TYPE = /^[A-Za-z0-9][A-Za-z0-9.+-]*\/[A-Za-z0-9][A-Za-z0-9.+_-]*$/

export const FileParams = Type.Object({
  id: Type.String({ description: 'Id of the file.', maxLength: 100 }),
})

/** A field for the picture of a user or group: a URL, or the path of a file of ours. */
export const PictureUrl = Type.String({
  maxLength: 3000,
  'x-url': '/v3/files/',
  description:
    'URL of a picture, or the path of a file that was uploaded with `picture`: `/v3/files/{id}`.',
})

export const NewFile = Type.Object({
  name: Type.String({
    'x-maxCharacters': 255,
    description: 'The name that readers see. Folders in it are left out.',
  }),
  size: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Size in bytes. Exactly this many can be uploaded.',
  }),
  mimeType: Type.String({
    maxLength: 127,
    pattern: MIME_TYPE.source,
    description: 'The type of the file, without parameters: `image/png`.',
  }),
  voice: Type.Optional(
    Type.Boolean({ description: 'A voice message: the file gets a `waveform`. Default: false.' }),
  ),
  picture: Type.Optional(
    Type.Boolean({
      description:
        'A picture of a user or group: an image that is cut to a square of 256 pixels, which everybody with its URL can see. Default: false.',
    }),
  ),
})
export type NewFile = Static<typeof NewFile>

const Part = Type.Object(
  {
    number: Type.Integer({ description: 'Starts at 1.' }),
    offset: Type.Integer({ description: 'Where the part begins in the file.' }),
    size: Type.Integer({ description: 'Size in bytes.' }),
    url: Type.String({ description: 'Send the bytes of the part to this URL with PUT.' }),
  },
  { additionalProperties: false },
)

const Upload = Type.Object(
  {
    headers: Type.Object(
      { 'content-type': Type.String() },
      { additionalProperties: false, description: 'Send exactly these headers.' },
    ),
    parts: Type.Array(Part, { description: 'The parts that are not uploaded yet.' }),
    expiresAt: Timestamp('When the URLs end, in Unix seconds. `GET /files/{id}` returns new ones.'),
  },
  { additionalProperties: false, 'x-component': 'FileUpload' },
)
export type Upload = Static<typeof Upload>

const Links = Type.Object(
  {
    file: Type.String({ description: 'The file itself.' }),
    small: Type.Optional(Type.String()),
    large: Type.Optional(Type.String()),
    square: Type.Optional(Type.String()),
    expiresAt: Timestamp('When the URLs end, in Unix seconds.'),
  },
  {
    additionalProperties: false,
    'x-component': 'FileLinks',
    description: 'URLs that work without a credential for five minutes.',
  },
)
export type Links = Static<typeof Links>

/** A file as its uploader or a reader sees it. */
export const FileDetails = Type.Object(
  {
    ...FileRecord.properties,
    upload: Type.Optional({ ...Upload, description: 'Where to upload a file that is pending.' }),
    links: Type.Optional(Links),
  },
  { additionalProperties: false, 'x-component': 'FileDetails' },
)
export type FileDetails = Static<typeof FileDetails>

export const FileIds = Type.Object({
  ids: Type.Array(Type.String({ maxLength: 100 }), {
    minItems: 1,
    maxItems: FILES,
    description: 'Ids of files.',
  }),
})

export const FileUrls = Type.Array(
  Type.Object(
    { id: Type.String(), links: Links },
    { additionalProperties: false, 'x-component': 'FileUrls' },
  ),
)
