'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { type RefObject, useContext, useState } from 'react'
import { useChat, useStrings } from './chat.tsx'
import { type FileOfMessage, filesOf, safeUrl } from './content.ts'
import { sizeOf } from './format.ts'
import { useFileLinks, usePlayerUrl } from './hooks/files.ts'
import { Icon } from './icons.tsx'
import type { AttachmentProps } from './parts.ts'
import { RoomContext } from './room.tsx'
import { VoicePlayer } from './voice.tsx'

const BOX = { width: 360, height: 280 }

/** The box of a picture, reserved before it is loaded, so that nothing moves then. */
function boxOf({ width = 4, height = 3 }: FileOfMessage) {
  const scale = Math.min(BOX.width / width, BOX.height / height, width > 16 ? 1 : Number.MAX_VALUE)
  const shown = Math.max(120, Math.round(width * scale))
  return { '--lq-width': `${shown}px`, '--lq-ratio': `${width} / ${height}` } as object
}

/** A file of a message: a picture, a player, or its name. */
export function Attachment({ file, onOpen }: AttachmentProps) {
  const strings = useStrings()
  const links = useFileLinks(file.id)
  const [failed, setFailed] = useState(false)
  const url = safeUrl(file.id ? links?.file : file.url)
  const picture = safeUrl(file.id ? (links?.large ?? links?.small ?? links?.file) : file.url)
  if (file.kind === 'image' && !failed) {
    const style = { ...boxOf(file), backgroundImage: file.preview && `url(${file.preview})` }
    return (
      <button
        type="button"
        className="lq-picture"
        style={style}
        aria-label={file.name || strings.photo}
        onClick={() => (onOpen ? onOpen(file.url) : url && window.open(url, '_blank', 'noopener'))}
      >
        {picture && <img src={picture} alt="" loading="lazy" onError={() => setFailed(true)} />}
      </button>
    )
  }
  if (file.kind === 'audio' && url && file.waveform) return <VoicePlayer file={file} url={url} />
  if ((file.kind === 'audio' || file.kind === 'video') && url) {
    return <Player file={file} url={url} />
  }
  const content = (
    <>
      <span className="lq-file-icon">
        <Icon name="file" size={20} />
      </span>
      <span className="lq-file-facts">
        <span className="lq-clip" dir="auto">
          {file.name || strings.file}
        </span>
        {file.size !== undefined && <small>{sizeOf(file.size, strings)}</small>}
      </span>
    </>
  )
  return url ? (
    <a
      className="lq-file"
      href={url}
      download={file.name}
      target="_blank"
      rel="noreferrer noopener"
    >
      {content}
    </a>
  ) : (
    <span className="lq-file">{content}</span>
  )
}

/** Plays a video or a sound. */
function Player({ file, url }: { file: FileOfMessage; url: string }) {
  const { player, ...playing } = usePlayerUrl(url)
  const shared = { ...playing, controls: true, preload: 'none' } as const
  return file.kind === 'video' ? (
    <video
      ref={player as RefObject<HTMLVideoElement>}
      className="lq-video"
      style={boxOf(file)}
      {...shared}
    />
  ) : (
    <audio ref={player as RefObject<HTMLAudioElement>} className="lq-audio" {...shared} />
  )
}

/** The files of a message, and how much of them is uploaded. */
export function Attachments({ message }: { message: ChatMessage }) {
  const { client, strings, parts } = useChat()
  const room = useContext(RoomContext)
  const files = filesOf(message)
  if (files.length === 0) return null
  const Part = parts.Attachment ?? Attachment
  const { pending, uploaded } = message
  const pictures = files.filter(({ kind }) => kind === 'image').length
  return (
    <div className="lq-attachments" data-many={pictures > 1 || undefined}>
      {files.map((file) => (
        <Part
          key={file.url}
          file={file}
          onOpen={room && ((url) => room.showPicture(message, url))}
        />
      ))}
      {pending === 'sending' && uploaded !== undefined && (
        <div className="lq-upload">
          <progress value={uploaded} max={1} />
          <button
            type="button"
            className="lq-tool"
            aria-label={strings.cancelUpload}
            title={strings.cancelUpload}
            onClick={() => client.discard(message)}
          >
            <Icon name="close" size={14} />
          </button>
        </div>
      )}
    </div>
  )
}
