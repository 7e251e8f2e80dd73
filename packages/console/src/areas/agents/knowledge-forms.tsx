import type { Agent, KnowledgeSource, NewKnowledgeFile } from '@loquat/sdk'
import { useState } from 'react'
import { Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { useSave } from './use-save.ts'

interface FormProps {
  agent: Agent
  onDone: () => void
}

/** What is added on the page of an agent is for this agent. */
function useAttach({ uid }: Agent) {
  const { knowledge } = manage.app(useAppId())
  return (sourceType: KnowledgeSource['sourceType'], uniqueIds: string[]) =>
    knowledge.attach(uid, sourceType, { uniqueIds })
}

export function TextForm({ agent, onDone }: FormProps) {
  const { knowledge } = manage.app(useAppId())
  const attach = useAttach(agent)
  const [title, setTitle] = useState('')
  const [text, setText] = useState('')
  const save = useSave(title, onDone, async () => {
    const { uniqueId } = await knowledge.createText({ title, text })
    await attach('text', [uniqueId])
  })
  return (
    <Form mutation={save} submit="Add text">
      <Field
        label="Title"
        hint="Words of the title count more than words of the text."
        value={title}
        onChange={setTitle}
        maxLength={500}
        autoFocus
      />
      <TextArea
        label="Text"
        hint="Plain text or Markdown, up to 5,000 characters. Headings help to find the right part."
        required
        rows={12}
        value={text}
        onChange={setText}
      />
    </Form>
  )
}

const TYPES: Record<string, NewKnowledgeFile['mimeType']> = {
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  htm: 'text/html',
  pdf: 'application/pdf',
}

const typeOf = ({ name }: File) => TYPES[name.split('.').at(-1)?.toLowerCase() ?? '']

export function UploadForm({ agent, onDone }: FormProps) {
  const { knowledge } = manage.app(useAppId())
  const attach = useAttach(agent)
  const [files, setFiles] = useState<File[]>([])
  const save = useSave(
    files.length === 1 ? '1 file' : `${files.length} files`,
    onDone,
    async () => {
      const { uploads } = await knowledge.initiateUploads({
        files: files.map((file) => ({
          ...{ fileName: file.name, fileSize: file.size, mimeType: typeOf(file) ?? 'text/plain' },
        })),
      })
      for (const [nth, { presignedUrl, mimeType }] of uploads.entries()) {
        const [body = null] = files.slice(nth)
        const put = { method: 'PUT', headers: { 'content-type': mimeType }, body }
        const { ok, status } = await fetch(presignedUrl, put)
        if (!ok) throw new Error(`The upload was refused with status ${status}.`)
      }
      await attach(
        'uploads',
        uploads.map(({ uploadId }) => uploadId),
      )
    },
  )
  return (
    <Form mutation={save} submit="Upload" ready={files.length > 0}>
      <label className="stack">
        <span>Text, Markdown, HTML or PDF files, up to 20 of up to 20 MB</span>
        <input
          type="file"
          multiple
          accept=".txt,.md,.html,.htm,.pdf"
          onChange={({ target }) => setFiles([...(target.files ?? [])])}
        />
      </label>
    </Form>
  )
}

export function WebsiteForm({ agent, onDone }: FormProps) {
  const { knowledge } = manage.app(useAppId())
  const attach = useAttach(agent)
  const [url, setUrl] = useState('')
  const [depth, setDepth] = useState('3')
  const [maxPages, setMaxPages] = useState('100')
  const save = useSave(url, onDone, async () => {
    const limits = { depth: Number(depth), maxPages: Number(maxPages) }
    const { uniqueId } = await knowledge.createWebsite({ url, ...limits })
    await attach('websites', [uniqueId])
  })
  return (
    <Form mutation={save} submit="Start crawl">
      <Field
        label="URL"
        hint="Where to begin. Only pages of the same host are read, as far as its robots.txt allows."
        mono
        placeholder="https://"
        value={url}
        onChange={setUrl}
        autoFocus
      />
      <div className="pair">
        <Field
          label="Depth"
          hint="How many links away, up to 10."
          type="number"
          value={depth}
          onChange={setDepth}
        />
        <Field
          label="Pages"
          hint="How many at most, up to 1,000."
          type="number"
          value={maxPages}
          onChange={setMaxPages}
        />
      </div>
    </Form>
  )
}
