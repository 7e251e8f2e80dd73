import type { Agent, KnowledgeSource } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { Button } from '../../shared/button.tsx'
import { ConfirmByName } from '../../shared/confirm-by-name.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { SafeLink } from '../../shared/safe-link.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'
import { knows, usePages, useSources } from './knowledge-data.ts'
import { TextForm, UploadForm, WebsiteForm } from './knowledge-forms.tsx'
import { KINDS, PAGE_STATES, pageReasonOf, reasonOf, stateOf } from './knowledge-words.ts'

/** What an agent knows, and what else the app has. */
export function Knowledge({ agent }: { agent: Agent }) {
  const sources = useSources()
  if (!sources.data) {
    return sources.error ? (
      <Problem error={sources.error} retry={sources.refetch} />
    ) : (
      <Skeleton lines={4} />
    )
  }
  const known = sources.data.filter((source) => knows(agent, source))
  const others = sources.data.filter((source) => !knows(agent, source))
  return (
    <div className="stack">
      <Panel
        title="What this agent knows"
        about="It searches these sources for every question, and cites what it uses."
      >
        {known.length === 0 && <p className="soft">Nothing yet. Add a text, files or a website.</p>}
        <Sources sources={known} agent={agent} />
        <div className="row">
          <Dialog wide title="Add text" trigger={<Button icon="plus">Add text</Button>}>
            {(close) => <TextForm agent={agent} onDone={close} />}
          </Dialog>
          <Dialog title="Upload files" trigger={<Button icon="plus">Upload files</Button>}>
            {(close) => <UploadForm agent={agent} onDone={close} />}
          </Dialog>
          <Dialog title="Crawl a website" trigger={<Button icon="plus">Crawl a website</Button>}>
            {(close) => <WebsiteForm agent={agent} onDone={close} />}
          </Dialog>
        </div>
      </Panel>
      {others.length > 0 && (
        <Panel
          title="Other sources of the app"
          about="Attach them, and this agent knows them, too."
        >
          <Sources sources={others} agent={agent} />
        </Panel>
      )}
    </div>
  )
}

const Sources = ({ sources, agent }: { sources: KnowledgeSource[]; agent: Agent }) =>
  sources.length > 0 && (
    <ul className="parts">
      {sources.map((source) => (
        <Source key={source.uniqueId} source={source} agent={agent} />
      ))}
    </ul>
  )

const sizeOf = ({ chunks, pages }: KnowledgeSource) =>
  [
    ...(pages === undefined ? [] : [pages === 1 ? '1 page' : `${pages} pages`]),
    chunks === 1 ? '1 passage' : `${chunks} passages`,
  ].join(', ')

function Source({ source, agent }: { source: KnowledgeSource; agent: Agent }) {
  const { title, sourceType, url, updatedAt } = source
  const { label, tone } = stateOf(source)
  const reason = reasonOf(source)
  return (
    <li>
      <div>
        <strong dir="auto">{title}</strong> <Status tone={tone}>{label}</Status>
        <p className="soft">
          {KINDS[sourceType]} · {sizeOf(source)} · <Time at={Math.floor(updatedAt / 1000)} />
          {url && (
            <>
              {' '}
              · <SafeLink href={url} />
            </>
          )}
        </p>
        {reason && <p>{reason}</p>}
      </div>
      <SourceActions source={source} agent={agent} />
    </li>
  )
}

function SourceActions({ source, agent }: { source: KnowledgeSource; agent: Agent }) {
  const { knowledge } = manage.app(useAppId())
  const changed = useAgentsChanged()
  const { uniqueId, title, sourceType, status } = source
  const isKnown = knows(agent, source)
  const change = useMutation({
    mutationFn: async (act: () => Promise<unknown>) => {
      await act()
    },
    onSuccess: () => changed(),
  })
  const attached = { uniqueIds: [uniqueId] }
  const button = (text: string, act: () => Promise<unknown>) => (
    <Button isDisabled={change.isPending} onPress={() => change.mutate(act)}>
      {text}
    </Button>
  )
  return (
    <span className="row">
      <Problem error={change.error} />
      {sourceType === 'websites' && (
        <Dialog wide title={`Pages of ${title}`} trigger={<Button>Pages</Button>}>
          <Pages uniqueId={uniqueId} />
        </Dialog>
      )}
      {sourceType === 'websites' &&
        status !== 'indexing' &&
        button('Crawl again', () => knowledge.crawlWebsite(uniqueId))}
      {isKnown
        ? button('Detach', () => knowledge.detach(agent.uid, sourceType, attached))
        : button('Attach', () => knowledge.attach(agent.uid, sourceType, attached))}
      <ConfirmByName
        what="Delete source"
        name={title}
        about="No agent finds it any more, and nobody can open citations of it."
        trigger={<Button look="danger">Delete</Button>}
        act={async () => {
          await knowledge.deleteSource(uniqueId)
          await changed()
          toast(`Deleted ${title}`)
        }}
      />
    </span>
  )
}

/** What the last crawl found. */
function Pages({ uniqueId }: { uniqueId: string }) {
  const pages = usePages(uniqueId)
  if (!pages.data) {
    return pages.error ? <Problem error={pages.error} retry={pages.refetch} /> : <Skeleton />
  }
  const { data, meta } = pages.data
  return (
    <div className="stack">
      <ul className="parts">
        {data.map((page) => {
          const { urlId, url, title, status, chunksCreated } = page
          const { label, tone } = PAGE_STATES[status]
          return (
            <li key={urlId}>
              <div>
                <strong dir="auto">{title ?? url}</strong> <Status tone={tone}>{label}</Status>
                <p className="soft">
                  <SafeLink href={url} /> · {pageReasonOf(page) ?? `${chunksCreated} passages`}
                </p>
              </div>
            </li>
          )
        })}
      </ul>
      {meta.next && <p className="soft">These are the newest 100 pages.</p>}
    </div>
  )
}
