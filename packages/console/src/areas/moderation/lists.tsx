import type { KeywordList } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { toast } from '../../shared/toasts.tsx'

const ALL = { limit: 100 }
const MOST_BYTES = 1_048_576
const CATEGORIES = {
  word: 'Words',
  pattern: 'Patterns (RE2)',
  'sentence-similarity': 'Sentences, by their meaning',
}
export const NOUNS = { word: 'word', pattern: 'pattern', 'sentence-similarity': 'sentence' }
/** The only list of the service whose entries can change. */
const WORDS = 'default-words'

export function KeywordLists() {
  const appId = useAppId()
  const lists = useQuery({
    queryKey: appKey(appId, 'moderation', 'lists'),
    queryFn: () => manage.app(appId).keywordLists.list(ALL),
  })
  return (
    <div className="stack">
      <div className="row moderation-head">
        <Dialog
          wide
          title="Create list"
          trigger={
            <Button look="main" icon="plus">
              Create list
            </Button>
          }
        >
          {(close) => <ListForm entries={[]} onDone={close} />}
        </Dialog>
      </div>
      {lists.isPending && <Skeleton lines={3} />}
      <Problem error={lists.error} retry={lists.refetch} />
      <ul className="stack">
        {lists.data?.data.map((list) => (
          <ListCard key={list.id} list={list} />
        ))}
      </ul>
    </div>
  )
}

function ListCard({ list }: { list: KeywordList }) {
  const appId = useAppId()
  const queries = useQueryClient()
  const { id, name, description, category, termsCount } = list
  const noun = NOUNS[category]
  return (
    <li className="panel rule-card">
      <div className="row">
        <strong dir="auto">{name}</strong>
        {list.default && <Status>Built in</Status>}
        <span className="row-end">
          {(!list.default || id === WORDS) && (
            <Dialog wide title={`Edit ${name}`} trigger={<Button>Edit</Button>}>
              {(close) => <LoadedForm id={id} onDone={close} />}
            </Dialog>
          )}
          {!list.default && (
            <ConfirmByName
              what="Delete list"
              name={name}
              about="A list that a rule uses can't be deleted."
              trigger={<Button look="danger">Delete</Button>}
              act={async () => {
                await manage.app(appId).keywordLists.delete(id)
                await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
                toast(`Deleted ${name}`)
              }}
            />
          )}
        </span>
      </div>
      {description && (
        <p className="soft" dir="auto">
          {description}
        </p>
      )}
      <p className="soft">
        <code>{id}</code> ·{' '}
        {termsCount === 1 ? `1 ${noun}` : `${termsCount.toLocaleString()} ${noun}s`}
      </p>
    </li>
  )
}

/** The list of lists has no entries, so they are read first. */
function LoadedForm({ id, onDone }: { id: string; onDone: () => void }) {
  const appId = useAppId()
  const list = useQuery({
    queryKey: appKey(appId, 'moderation', 'lists', id),
    queryFn: () => manage.app(appId).keywordLists.get(id),
    staleTime: 0,
  })
  if (list.data && !list.isFetching) {
    const { searchTerms, disallowedSentences } = list.data
    const entries = searchTerms ?? disallowedSentences ?? []
    return <ListForm list={list.data} entries={entries} onDone={onDone} />
  }
  return list.error ? <Problem error={list.error} /> : <Skeleton lines={4} />
}

function ListForm(props: { list?: KeywordList; entries: string[]; onDone: () => void }) {
  const { list, entries, onDone } = props
  const appId = useAppId()
  const { keywordLists } = manage.app(appId)
  const queries = useQueryClient()
  const [id, setId] = useState('')
  const [name, setName] = useState(list?.name ?? '')
  const [category, setCategory] = useState<KeywordList['category']>(list?.category ?? 'word')
  const [text, setText] = useState(entries.join('\n'))
  const searchTerms = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const save = useMutation({
    mutationFn: () => {
      if (!list) return keywordLists.create({ id, name, category, searchTerms })
      return keywordLists.update(list.id, list.default ? { searchTerms } : { name, searchTerms })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
      onDone()
      toast(list ? `Saved ${name}` : `Created ${name}`)
    },
  })
  return (
    <Form mutation={save} submit={list ? 'Save' : 'Create list'}>
      {!list && (
        <>
          <Field
            label="List ID"
            hint="A unique ID that you choose. You can't change it later."
            mono
            value={id}
            onChange={setId}
            autoFocus
          />
          <Choice label="Contains" value={category} options={CATEGORIES} onChange={setCategory} />
        </>
      )}
      {!list?.default && <Field label="Name" value={name} onChange={setName} maxLength={100} />}
      <TextArea
        label={CATEGORIES[category]}
        hint="One per line. Paste a column of a spreadsheet."
        rows={10}
        mono
        value={text}
        onChange={setText}
      />
      <CsvFile onText={setText} />
    </Form>
  )
}

/** Reads the entries of a CSV file into the form: the first column, one entry per line. */
function CsvFile({ onText }: { onText: (text: string) => void }) {
  const id = useId()
  const [problem, setProblem] = useState('')
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > MOST_BYTES) return setProblem('The file has more than 1 MB.')
    setProblem('')
    onText(firstColumn(await file.text()).join('\n'))
  }
  return (
    <div className="field">
      <label htmlFor={id}>Or read a CSV file</label>
      <input
        id={id}
        className="input"
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        aria-describedby={`${id}hint`}
        onChange={(event) => void read(event.target.files?.[0])}
      />
      <small id={`${id}hint`}>
        {problem ||
          'The first column, up to 1 MB. It replaces the entries above; nothing is saved yet.'}
      </small>
    </div>
  )
}

/** Entries can be in quotes, with quotes doubled. */
const firstColumn = (text: string) =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => {
      const [, quoted, plain = ''] = /^\s*(?:"((?:[^"]|"")*)"|([^,;\t]*))/.exec(line) ?? []
      return (quoted?.replaceAll('""', '"') ?? plain).trim()
    })
    .filter(Boolean)
