/** What only the bytes of a file can say. The worker thread makes it. */

export type Reason = 'empty' | 'size' | 'type' | 'pixels' | 'malware' | 'unreadable'

export interface Thumbnail {
  name: 'small' | 'large' | 'square'
  type: string
  width: number
  height: number
  path: string
}

export interface Parsed {
  type: string
  width?: number
  height?: number
  durationMs?: number
  /** Loudness of equal parts of a voice message, 0 to 100. */
  waveform?: number[]
  /** A few pixels as a data: URL, to show until the image is loaded. */
  preview?: string
  /** The file that replaces the upload: an image without metadata. */
  body?: string
  thumbnails: Thumbnail[]
}
