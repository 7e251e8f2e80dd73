import type { Export, Import } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { DataTable } from '../../shared/data-table.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts, Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { wholeList } from '../../shared/records.ts'
import { Status, type Tone } from '../../shared/status.tsx'
import { sizeOf } from '../../shared/texts.ts'
import { Time } from '../../shared/time.tsx'
import { partsOf, save } from './parts.ts'
import './transfer.css'

const REFRESH_MS = 2_000
const number = new Intl.NumberFormat('en')

const STATES: Record<Import['state'], { label: string; tone: Tone }> = {
  open: { label: 'Not started', tone: 'plain' },
  waiting: { label: 'Waiting', tone: 'plain' },
  running: { label: 'Running', tone: 'info' },
  paused: { label: 'Paused', tone: 'warn' },
  checked: { label: 'Checked', tone: 'good' },
  done: { label: 'Done', tone: 'good' },
  cancelled: { label: 'Cancelled', tone: 'plain' },
  failed: { label: 'Failed', tone: 'bad' },
}

const State = ({ state }: { state: Import['state'] }) => (
  <Status tone={STATES[state].tone}>{STATES[state].label}</Status>
)

/** Histories that come into the app, and what can be taken along. */
export function Transfer() {
  return (
    <Page
      title="Import and export"
      description="Bring the history of another service into this app, or take this app's data along. Both run in the background."
    >
      <div className="stack transfer">
        <Imports />
        <Exports />
      </div>
    </Page>
  )
}

function Imports() {
  const appId = useAppId()
  const [openId, setOpenId] = useState<string>()
  const imports = useQuery({
    queryKey: appKey(appId, 'imports'),
    queryFn: () => manage.app(appId).imports.list({ limit: 100 }),
    refetchInterval: REFRESH_MS,
  })
  const { data, error, refetch } = imports
  return (
    <section className="stack">
      <div className="row transfer-head">
        <h2>Imports</h2>
        <Dialog trigger={<Button>Import a file</Button>} title="Import a file">
          {(close) => (
            <NewImport
              onDone={(id) => {
                close()
                setOpenId(id)
              }}
            />
          )}
        </Dialog>
      </div>
      {data ? (
        <DataTable
          label="Imports"
          list={wholeList(data.data)}
          id={({ id }) => id}
          text={({ id }) => `Import ${id}`}
          onOpen={setOpenId}
          columns={[
            { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
            {
              name: 'State',
              cell: ({ state }) => <State state={state} />,
              width: 130,
              narrow: 110,
            },
            { name: 'Imported', cell: importedOf, end: true, width: 130, narrow: 100 },
            {
              name: 'Refused',
              cell: ({ problems }) => number.format(problems),
              ...{ end: true, wide: true, width: 120 },
            },
          ]}
          empty={
            <Empty title="No imports">
              Files have one JSON object per line: users, groups, members and messages.
            </Empty>
          }
        />
      ) : (
        <Waiting error={error} retry={refetch} />
      )}
      <Dialog
        wide
        title="Import"
        isOpen={openId !== undefined}
        onClose={() => setOpenId(undefined)}
      >
        {openId !== undefined && <WholeImport id={openId} />}
      </Dialog>
    </section>
  )
}

const importedOf = ({ report }: Import) =>
  number.format(report.reduce((sum, { imported }) => sum + imported, 0))

const Waiting = ({ error, retry }: { error: unknown; retry: () => unknown }) =>
  error ? <Problem error={error} retry={retry} /> : <Skeleton />

/** Uploads a file in parts and checks it. The operator starts it after looking at the result. */
function NewImport({ onDone }: { onDone: (id: string) => void }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { imports } = manage.app(appId)
  const [file, setFile] = useState<File>()
  const [sent, setSent] = useState(0)
  const label = useId()
  const upload = useMutation({
    mutationFn: async () => {
      if (!file) return undefined
      const { id } = await imports.create({})
      let part = 0
      for await (const { lines, read } of partsOf(file)) {
        await imports.uploadPart(id, String(++part), { lines })
        setSent(read)
      }
      await imports.start(id, { dryRun: true })
      return id
    },
    onSuccess: (id) => {
      void queries.invalidateQueries({ queryKey: appKey(appId, 'imports') })
      if (id !== undefined) onDone(id)
    },
  })
  return (
    <div className="stack">
      <label className="stack">
        <span id={label}>File with one JSON object per line, plain or .gz</span>
        <input
          type="file"
          accept=".ndjson,.jsonl,.json,.gz"
          onChange={({ target }) => setFile(target.files?.[0])}
        />
      </label>
      <p className="soft">
        The file is uploaded and only checked at first. You start the import afterwards.
      </p>
      {upload.isPending && file && (
        <progress aria-labelledby={label} value={sent} max={file.size}>
          {sizeOf(sent)}
        </progress>
      )}
      <Problem error={upload.error} />
      <div className="row">
        <Button isDisabled={!file || upload.isPending} onPress={() => upload.mutate()}>
          Upload and check
        </Button>
      </div>
    </div>
  )
}

const UNDER_WAY = ['waiting', 'running']

function WholeImport({ id }: { id: string }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { imports } = manage.app(appId)
  const label = useId()
  const query = useQuery({
    queryKey: appKey(appId, 'imports', id),
    queryFn: () => imports.get(id),
    refetchInterval: ({ state: { data } }) =>
      data && !UNDER_WAY.includes(data.state) ? false : REFRESH_MS,
  })
  const change = useMutation({
    mutationFn: (action: 'start' | 'pause' | 'resume' | 'cancel') =>
      action === 'start' ? imports.start(id, {}) : imports[action](id),
    onSuccess: () => queries.invalidateQueries({ queryKey: appKey(appId, 'imports') }),
  })
  const { data: shown } = query
  if (!shown) return <Waiting error={query.error} retry={query.refetch} />
  const { state, progress, dryRun, report, problems } = shown
  const can = (action: 'start' | 'pause' | 'resume' | 'cancel', text: string) => (
    <Button
      look={action === 'start' ? 'main' : undefined}
      isDisabled={change.isPending}
      onPress={() => change.mutate(action)}
    >
      {text}
    </Button>
  )
  return (
    <div className="stack">
      <Facts
        facts={{
          State: <State state={state} />,
          ID: <code>{id}</code>,
          Mode: dryRun ? 'Only checks the lines' : 'Imports',
          Parts: `${number.format(shown.parts)} · ${sizeOf(shown.bytes)}`,
          Created: <Time at={shown.createdAt} />,
          Ended: shown.endedAt && <Time at={shown.endedAt} />,
        }}
      />
      {UNDER_WAY.includes(state) && (
        <div className="transfer-progress">
          <span id={label}>{dryRun ? 'Checking lines' : 'Importing'}</span>
          <progress aria-labelledby={label} value={progress} max={1}>
            {`${Math.round(progress * 100)} %`}
          </progress>
        </div>
      )}
      {report.length > 0 && <Report report={report} dryRun={dryRun} />}
      {problems > 0 && <Problems id={id} count={problems} />}
      <Problem error={change.error} />
      <div className="toolbar">
        {(state === 'open' || state === 'checked') && can('start', 'Start import')}
        {UNDER_WAY.includes(state) && can('pause', 'Pause')}
        {(state === 'paused' || state === 'failed') && can('resume', 'Resume')}
        {!['done', 'cancelled'].includes(state) && can('cancel', 'Cancel import')}
      </div>
    </div>
  )
}

function Report({ report, dryRun }: { report: Import['report']; dryRun: boolean }) {
  return (
    <table className="report">
      <thead>
        <tr>
          <th>Kind</th>
          <th>Read</th>
          {!dryRun && <th>Imported</th>}
          {!dryRun && <th>There already</th>}
          <th>Refused</th>
          {!dryRun && <th>Checksum</th>}
        </tr>
      </thead>
      <tbody>
        {report.map(({ kind, read, imported, there, refused, checksum }) => (
          <tr key={kind}>
            <th scope="row">{kind}</th>
            <td>{number.format(read)}</td>
            {!dryRun && <td>{number.format(imported)}</td>}
            {!dryRun && <td>{number.format(there)}</td>}
            <td>{number.format(refused)}</td>
            {!dryRun && (
              <td>
                <code>{checksum}</code>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const SHOWN = 100

function Problems({ id, count }: { id: string; count: number }) {
  const appId = useAppId()
  const { data = [], error } = useQuery({
    queryKey: appKey(appId, 'imports', id, 'problems', count),
    queryFn: () => manage.app(appId).imports.listProblems(id, { limit: SHOWN }),
  })
  return (
    <section className="stack">
      <h3>{number.format(count)} lines were refused</h3>
      <Problem error={error} />
      <ul className="transfer-problems">
        {data.map(({ part, line, code, message }) => (
          <li key={`${part} ${line}`}>
            <span className="soft">
              Part {part}, line {number.format(line)}
            </span>{' '}
            <code>{code}</code> <span dir="auto">{message}</span>
          </li>
        ))}
      </ul>
      {count > data.length && data.length > 0 && <p className="soft">The first {data.length}.</p>}
    </section>
  )
}

function Exports() {
  const appId = useAppId()
  const queries = useQueryClient()
  const { exports } = manage.app(appId)
  const list = useQuery({
    queryKey: appKey(appId, 'exports'),
    queryFn: () => exports.list({ limit: 100 }),
    refetchInterval: REFRESH_MS,
  })
  const refresh = () => queries.invalidateQueries({ queryKey: appKey(appId, 'exports') })
  const download = useMutation({
    mutationFn: async ({ id, parts }: Export) => {
      const files: string[] = []
      for (let part = 1; part <= parts; part++) {
        files.push((await exports.getPart(id, String(part))).gzip)
      }
      save(`${appId}-${id}.ndjson.gz`, files)
    },
  })
  const remove = useMutation({
    mutationFn: ({ id }: Export) => exports.delete(id),
    onSuccess: refresh,
  })
  const { data, error, refetch } = list
  return (
    <section className="stack">
      <div className="row transfer-head">
        <h2>Exports</h2>
        <Dialog trigger={<Button>Export</Button>} title="Export">
          {(close) => (
            <NewExport
              onDone={() => {
                close()
                void refresh()
              }}
            />
          )}
        </Dialog>
      </div>
      <Problem error={download.error ?? remove.error} />
      {data ? (
        <DataTable
          label="Exports"
          list={wholeList(data.data)}
          id={({ id }) => id}
          text={({ id }) => `Export ${id}`}
          columns={[
            { name: 'Created', cell: ({ createdAt }) => <Time at={createdAt} />, width: 130 },
            { name: 'What', cell: (one) => <bdi className="clip">{scopeOf(one)}</bdi> },
            { name: 'State', cell: ({ state }) => <State state={state} />, width: 120 },
            {
              name: 'Size',
              cell: ({ bytes }) => sizeOf(bytes),
              ...{ end: true, wide: true, width: 110 },
            },
            {
              name: 'Actions',
              cell: (one) => (
                <span className="row">
                  {one.state === 'done' && (
                    <Button isDisabled={download.isPending} onPress={() => download.mutate(one)}>
                      Download
                    </Button>
                  )}
                  <Button isDisabled={remove.isPending} onPress={() => remove.mutate(one)}>
                    Delete
                  </Button>
                </span>
              ),
              width: 220,
            },
          ]}
          empty={
            <Empty title="No exports">
              An export has the app's data as lines that an import reads. It is kept for a week.
            </Empty>
          }
        />
      ) : (
        <Waiting error={error} retry={refetch} />
      )}
    </section>
  )
}

const scopeOf = ({ uid, conversationId }: Export) => uid ?? conversationId ?? 'Whole app'

function NewExport({ onDone }: { onDone: () => void }) {
  const appId = useAppId()
  const [uid, setUid] = useState('')
  const [conversationId, setConversationId] = useState('')
  const create = useMutation({
    mutationFn: () =>
      manage.app(appId).exports.create({
        ...(uid && { uid }),
        ...(conversationId && { conversationId }),
      }),
    onSuccess: onDone,
  })
  return (
    <Form mutation={create} submit="Start export">
      <Field
        label="User"
        value={uid}
        onChange={setUid}
        required={false}
        hint="Only this UID. Leave both fields empty for the whole app."
      />
      <Field
        label="Conversation"
        value={conversationId}
        onChange={setConversationId}
        required={false}
        hint="Only this conversation, such as group_team."
      />
    </Form>
  )
}
