'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { useChat } from './chat.tsx'
import { senderOf, summaryOf } from './content.ts'
import { EmojiButton } from './emoji-button.tsx'
import { durationOf, sizeOf } from './format.ts'
import { useDraft } from './hooks/draft.ts'
import { type Candidate, useMentions } from './hooks/mentions.ts'
import { useTyping } from './hooks/people.ts'
import { type Recorder, useRecorder } from './hooks/recorder.ts'
import { type StagedFile, useUpload } from './hooks/upload.ts'
import { Icon } from './icons.tsx'
import { isComposing } from './keys.ts'
import { useRoom } from './room.tsx'

/** The errors of what is sent here are shown elsewhere: at the message itself. */
const ignore = () => undefined

/** Writes, edits and quotes messages, and sends files. Enter sends, Shift and Enter starts a new line. */
export function Composer() {
  const { client, strings } = useChat()
  const { target, parentId, name, editing, quoting, edit, quote } = useRoom()
  const key = client.idOf(target, parentId)
  const [draft, setDraft] = useDraft(key)
  const [changed, setChanged] = useState('')
  const [problem, setProblem] = useState('')
  const text = editing ? changed : draft
  const setText = editing ? setChanged : setDraft
  const field = useRef<HTMLTextAreaElement>(null)
  const upload = useUpload(target, parentId)
  const { type } = useTyping(target)
  const recorder = useRecorder()
  const mentions = useMentions(target, key, text, (next, caret) => {
    setText(next)
    requestAnimationFrame(() => field.current?.setSelectionRange(caret, caret))
  })
  const form = useRef<HTMLFormElement>(null)
  const isDropping = useDrop(form, (files) => {
    if (!editing) upload.stage(files)
  })
  useGrowing(field, text)

  useEffect(() => {
    if (!editing) return
    setChanged(mentions.textOf(editing))
    field.current?.focus()
  }, [editing, mentions.textOf])
  useEffect(() => {
    if (quoting) field.current?.focus()
  }, [quoting])

  const send = async () => {
    const written = mentions.written(text.trim())
    setProblem('')
    if (editing) {
      if (written === '') return
      try {
        await client.api.messages.update(editing.id, { data: { text: written } })
        edit(undefined)
      } catch {
        setProblem(strings.error)
      }
      return
    }
    if (upload.staged.length > 0) upload.send(written, quoting?.id)
    else if (written === '') return
    else {
      const quoted = quoting ? { quotedMessageId: quoting.id } : {}
      client.send(target, { text: written, ...quoted }, parentId).catch(ignore)
    }
    setDraft('')
    mentions.forget()
    quote(undefined)
  }

  const sendVoice = async () => {
    const file = await recorder.stop()
    if (!file) return
    const options = { voice: true, parentId, quotedMessageId: quoting?.id }
    client.sendFile(target, file, options).catch(ignore)
    quote(undefined)
  }
  const record = () => {
    setProblem('')
    recorder.start().catch(() => setProblem(strings.noMicrophone))
  }

  const stopped = () => {
    edit(undefined)
    quote(undefined)
    setProblem('')
    field.current?.focus()
  }
  const onKeyDown = (event: React.KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event)) return
    if (mentions.onKeyDown(event)) return
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault()
      void send()
    } else if (event.key === 'Escape' && (editing || quoting)) stopped()
    else if (event.key === 'ArrowUp' && text === '' && parentId === undefined) {
      const own = client.state.rooms[key]?.messages.findLast(
        ({ sender, pending, deletedAt, type: kind }) =>
          sender === client.uid && !pending && deletedAt === undefined && kind === 'text',
      )
      if (!own) return
      event.preventDefault()
      edit(own)
    }
  }
  const insert = (emoji: string) => {
    const { selectionStart: from = text.length, selectionEnd: to = text.length } =
      field.current ?? {}
    setText(text.slice(0, from) + emoji + text.slice(to))
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(from + emoji.length, from + emoji.length)
    })
  }
  const isEmpty = text.trim() === '' && upload.staged.length === 0
  return (
    <form
      ref={form}
      className="lq-composer"
      data-dropping={isDropping || undefined}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      {(editing ?? quoting) && (
        <Banner message={(editing ?? quoting) as ChatMessage} isEdit={!!editing} onStop={stopped} />
      )}
      {problem && (
        <p className="lq-failed" role="alert">
          <Icon name="warn" size={14} />
          {problem}
        </p>
      )}
      {upload.staged.length > 0 && <Tiles files={upload.staged} onRemove={upload.unstage} />}
      {recorder.isRecording && <Recording recorder={recorder} onSend={() => void sendVoice()} />}
      <div className="lq-composer-row" hidden={recorder.isRecording}>
        {!editing && <AttachButton onFiles={upload.stage} />}
        <div className="lq-field">
          <textarea
            ref={field}
            rows={1}
            // An empty field has the direction of its placeholder.
            dir={text === '' ? undefined : 'auto'}
            value={text}
            placeholder={parentId === undefined ? strings.writeTo(name) : strings.writeReply}
            aria-label={parentId === undefined ? strings.writeTo(name) : strings.writeReply}
            {...mentions.field}
            onChange={(event) => {
              setText(event.target.value)
              mentions.look(event.target)
              if (editing) return
              type(event.target.value !== '')
              if (event.target.value === '') mentions.forget()
            }}
            onSelect={(event) => mentions.look(event.currentTarget)}
            onBlur={() => type(false)}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              if (event.clipboardData.files.length === 0 || editing) return
              event.preventDefault()
              upload.stage(event.clipboardData.files)
            }}
          />
          {mentions.found.length > 0 && <Suggestions {...mentions} />}
        </div>
        <EmojiButton label={strings.emoji} onPick={insert} />
        {isEmpty && !editing && recorder.isSupported ? (
          <button
            type="button"
            className="lq-tool"
            aria-label={strings.record}
            title={strings.record}
            onClick={record}
          >
            <Icon name="mic" />
          </button>
        ) : (
          <button
            type="submit"
            className="lq-send"
            disabled={isEmpty}
            aria-label={editing ? strings.save : strings.send}
          >
            <Icon name={editing ? 'check' : 'send'} />
          </button>
        )}
      </div>
      {isDropping && <p className="lq-drop">{strings.dropFiles}</p>}
    </form>
  )
}

/** A voice message while it is recorded. */
function Recording({ recorder, onSend }: { recorder: Recorder; onSend: () => void }) {
  const { strings } = useChat()
  return (
    <div className="lq-composer-row lq-recording">
      <button
        type="button"
        className="lq-tool"
        aria-label={strings.cancel}
        onClick={recorder.cancel}
      >
        <Icon name="trash" />
      </button>
      <span className="lq-recording-time" role="timer" aria-label={strings.recording}>
        {durationOf(recorder.seconds)}
      </span>
      <button type="button" className="lq-send" aria-label={strings.send} onClick={onSend}>
        <Icon name="send" />
      </button>
    </div>
  )
}

/** Grows with its text, as far as its `max-height`. */
function useGrowing(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useLayoutEffect(() => {
    const element = field.current
    if (!element) return
    element.style.height = 'auto'
    element.style.height = `${element.scrollHeight}px`
  }, [field, text])
}

/**
 * Takes files that are dropped anywhere in the conversation or thread: beside the composer, the browser would open them in place
 * of the page. Everything else that is dragged, such as text, is left to the browser.
 */
function useDrop(form: RefObject<HTMLFormElement | null>, onFiles: (files: FileList) => void) {
  const [isDropping, setDropping] = useState(false)
  const latest = useRef(onFiles)
  useLayoutEffect(() => {
    latest.current = onFiles
  })
  useEffect(() => {
    const area = form.current?.closest<HTMLElement>('.lq-channel')
    if (!area) return
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setDropping(true)
    }
    const leave = ({ relatedTarget }: DragEvent) => {
      if (!area.contains(relatedTarget as Node | null)) setDropping(false)
    }
    const drop = (event: DragEvent) => {
      setDropping(false)
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      latest.current(event.dataTransfer.files)
    }
    area.addEventListener('dragover', over)
    area.addEventListener('dragleave', leave)
    area.addEventListener('drop', drop)
    return () => {
      area.removeEventListener('dragover', over)
      area.removeEventListener('dragleave', leave)
      area.removeEventListener('drop', drop)
    }
  }, [form])
  return isDropping
}

interface BannerProps {
  message: ChatMessage
  isEdit: boolean
  onStop: () => void
}

/** The message that is edited or quoted. */
function Banner({ message, isEdit, onStop }: BannerProps) {
  const { client, strings } = useChat()
  const isOwn = message.sender === client.uid
  const name = isOwn ? strings.you : senderOf(message).name
  return (
    <div className="lq-banner">
      <Icon name={isEdit ? 'edit' : 'quote'} size={14} />
      <div className="lq-banner-text">
        <strong>{isEdit ? strings.editing : strings.quoting(name)}</strong>
        <span className="lq-clip" dir="auto">
          {summaryOf(message, strings)}
        </span>
      </div>
      <button type="button" className="lq-tool" aria-label={strings.cancel} onClick={onStop}>
        <Icon name="close" />
      </button>
    </div>
  )
}

/** The chosen files. */
function Tiles(props: { files: readonly StagedFile[]; onRemove: (key: number) => void }) {
  return (
    <ul className="lq-tiles">
      {props.files.map((one) => (
        <Tile key={one.key} staged={one} onRemove={() => props.onRemove(one.key)} />
      ))}
    </ul>
  )
}

function Tile({ staged: { file }, onRemove }: { staged: StagedFile; onRemove: () => void }) {
  const { strings } = useChat()
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!file.type.startsWith('image/')) return
    const created = URL.createObjectURL(file)
    setUrl(created)
    return () => URL.revokeObjectURL(created)
  }, [file])
  return (
    <li className="lq-tile">
      {url ? <img src={url} alt="" /> : <Icon name="file" size={20} />}
      <span className="lq-tile-facts">
        <span className="lq-clip" dir="auto">
          {file.name}
        </span>
        <small>{sizeOf(file.size, strings)}</small>
      </span>
      <button
        type="button"
        className="lq-tile-remove"
        aria-label={strings.removeFile(file.name)}
        onClick={onRemove}
      >
        <Icon name="close" size={12} />
      </button>
    </li>
  )
}

function AttachButton({ onFiles }: { onFiles: (files: Iterable<File>) => void }) {
  const { strings } = useChat()
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles(target.files ?? [])
          target.value = ''
        }}
      />
      <button
        type="button"
        className="lq-tool"
        aria-label={strings.attach}
        title={strings.attach}
        onClick={() => input.current?.click()}
      >
        <Icon name="paperclip" />
      </button>
    </>
  )
}

interface SuggestionsProps {
  found: readonly Candidate[]
  active: number
  listId: string
  choose: (candidate: Candidate) => void
}

/** The users whose name begins like what follows the @. */
function Suggestions({ found, active, listId, choose }: SuggestionsProps) {
  const { strings } = useChat()
  const id = useId()
  return (
    <div className="lq-suggestions" id={listId} role="listbox" aria-label={strings.mention}>
      {found.map((candidate, nth) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
        <div
          key={candidate.uid}
          id={`${listId}-${nth}`}
          role="option"
          tabIndex={-1}
          aria-selected={nth === active}
          aria-labelledby={`${id}-${nth}`}
          // Keeps the focus in the field.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(candidate)}
        >
          <span id={`${id}-${nth}`}>
            <bdi>{candidate.name}</bdi>
            {found.some(({ uid, name }) => name === candidate.name && uid !== candidate.uid) && (
              <small className="lq-soft"> {candidate.uid}</small>
            )}
          </span>
        </div>
      ))}
    </div>
  )
}
