'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { useEffect, useRef, useState } from 'react'
import { useStrings } from './chat.tsx'
import { type FileOfMessage, safeUrl, senderOf } from './content.ts'
import { dayNameOf, timeOf } from './format.ts'
import { useFileLinks } from './hooks/files.ts'
import { Icon } from './icons.tsx'

/** A picture and the message that it is in. */
export interface Picture {
  file: FileOfMessage
  message: ChatMessage
}

interface GalleryProps {
  pictures: readonly Picture[]
  /** The picture to show first. */
  start: number
  onClose: () => void
}

/** Pictures in full size. The arrow keys show the next one, Escape closes it. */
export function Gallery({ pictures, start, onClose }: GalleryProps) {
  const strings = useStrings()
  const dialog = useRef<HTMLDialogElement>(null)
  const [at, setAt] = useState(start)
  useEffect(() => dialog.current?.showModal(), [])
  const { file, message } = pictures[at] as Picture
  const links = useFileLinks(file.id)
  const url = safeUrl(file.id ? links?.file : file.url)
  const move = (step: number) => setAt(Math.max(0, Math.min(at + step, pictures.length - 1)))
  const onKeyDown = (event: React.KeyboardEvent) => {
    event.stopPropagation()
    const side = strings.dir === 'rtl' ? -1 : 1
    if (event.key === 'ArrowRight') move(side)
    if (event.key === 'ArrowLeft') move(-side)
  }
  return (
    <dialog
      ref={dialog}
      className="lq-gallery"
      aria-label={file.name || strings.photo}
      onClose={onClose}
      onKeyDown={onKeyDown}
      onClick={({ target }) => (target as Element).matches('dialog, figure') && onClose()}
    >
      <header>
        <span className="lq-gallery-facts">
          <strong className="lq-clip">
            <bdi>{senderOf(message).name}</bdi>
          </strong>
          <small className="lq-clip">
            {dayNameOf(message.sentAt, strings)}, {timeOf(message.sentAt, strings)}
          </small>
        </span>
        {pictures.length > 1 && (
          <span className="lq-gallery-count" role="status">
            {strings.pictureOf(at + 1, pictures.length)}
          </span>
        )}
        {url && (
          <a
            className="lq-tool"
            href={url}
            download={file.name}
            target="_blank"
            rel="noreferrer noopener"
            aria-label={strings.download(file.name)}
            title={strings.download(file.name)}
          >
            <Icon name="down" />
          </a>
        )}
        <button type="button" className="lq-tool" aria-label={strings.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <figure
        style={{ backgroundImage: file.preview && !url ? `url(${file.preview})` : undefined }}
      >
        {url && <img key={url} src={url} alt={file.name} />}
      </figure>
      {at > 0 && (
        <button
          type="button"
          className="lq-gallery-step"
          aria-label={strings.previousPicture}
          onClick={() => move(-1)}
        >
          <Icon name="back" size={20} />
        </button>
      )}
      {at < pictures.length - 1 && (
        <button
          type="button"
          className="lq-gallery-step"
          data-next
          aria-label={strings.nextPicture}
          onClick={() => move(1)}
        >
          <Icon name="right" size={20} />
        </button>
      )}
    </dialog>
  )
}
