import type { management } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DataTable } from '../../shared/data-table.tsx'
import { Empty } from '../../shared/empty.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Facts, Page, Panel, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { wholeList } from '../../shared/records.ts'
import { Status } from '../../shared/status.tsx'
import { sizeOf } from '../../shared/texts.ts'
import { Time } from '../../shared/time.tsx'
import './storage.css'

type Storage = management.Storage

const REFRESH_MS = 10_000
const number = new Intl.NumberFormat('en')

const STORES: Record<Storage['store']['kind'], string> = {
  none: 'None',
  folder: 'Folder',
  s3: 'S3 bucket',
}
const KINDS: Record<Storage['kinds'][number]['kind'], string> = {
  image: 'Images',
  audio: 'Audio',
  video: 'Videos',
  other: 'Other files',
}
const REASONS: Record<string, string> = {
  empty: 'Empty',
  size: 'Wrong size',
  type: 'Wrong type',
  pixels: 'Too many pixels',
  malware: 'Malware',
  unreadable: 'Unreadable',
}

/** What the app's files take, and the files that were rejected. */
export function Storage() {
  const appId = useAppId()
  const storage = useQuery({
    queryKey: appKey(appId, 'storage'),
    queryFn: () => manage.storage.get(appId),
    refetchInterval: REFRESH_MS,
  })
  const { data, error, refetch } = storage
  return (
    <Page
      title="Storage"
      description="Files that users and your servers uploaded. Rejected files leave the list after a day."
    >
      {data ? <Shown storage={data} /> : <Waiting error={error} retry={refetch} />}
    </Page>
  )
}

const Waiting = ({ error, retry }: { error: unknown; retry: () => unknown }) =>
  error ? <Problem error={error} retry={retry} /> : <Skeleton />

function Shown({ storage }: { storage: Storage }) {
  const { store, scanner, files, bytes, limit, fileLimit, waiting, kinds, rejected } = storage
  if (store.kind === 'none') {
    return (
      <Empty title="No file storage">
        This installation doesn't store files. Messages can still refer to files on other hosts.
      </Empty>
    )
  }
  const used = `${sizeOf(bytes)} of ${sizeOf(limit)}`
  return (
    <div className="stack">
      <div className="storage">
        <Panel title="Usage">
          <meter min={0} max={limit} high={limit * 0.9} value={bytes} aria-label="Used space">
            {used}
          </meter>
          <Facts
            facts={{
              Used: used,
              Files: number.format(files),
              ...Object.fromEntries(
                kinds.map((one) => [
                  KINDS[one.kind],
                  `${number.format(one.files)} · ${sizeOf(one.bytes)}`,
                ]),
              ),
              'In progress': waiting > 0 ? number.format(waiting) : undefined,
              'Largest file': sizeOf(fileLimit),
            }}
          />
        </Panel>
        <Panel title="Health">
          <Facts
            facts={{
              Store: STORES[store.kind],
              'Store state': <Health healthy={store.healthy} />,
              'Malware scanner': scanner.configured ? (
                <Health healthy={scanner.healthy} />
              ) : (
                <Status>Off</Status>
              ),
              Version: scanner.version,
            }}
          />
          {scanner.configured && !scanner.healthy && (
            <p>New files wait until the scanner answers again.</p>
          )}
        </Panel>
      </div>
      <h2>Rejected files</h2>
      <Rejected files={rejected} />
    </div>
  )
}

const Health = ({ healthy }: { healthy: boolean }) =>
  healthy ? <Status tone="good">Healthy</Status> : <Status tone="bad">Not answering</Status>

function Rejected({ files }: { files: Storage['rejected'] }) {
  const appId = useAppId()
  return (
    <DataTable
      label="Rejected files"
      list={wholeList(files)}
      id={({ id }) => id}
      text={({ name }) => name}
      columns={[
        { name: 'File', cell: ({ name }) => <bdi className="clip">{name}</bdi>, width: '2fr' },
        {
          name: 'Reason',
          cell: ({ reason = '' }) => (
            <Status tone={reason === 'malware' ? 'bad' : 'warn'}>
              {REASONS[reason] ?? reason}
            </Status>
          ),
          width: 150,
        },
        {
          name: 'Type',
          cell: ({ mimeType }) => <span className="clip">{mimeType}</span>,
          wide: true,
        },
        { name: 'Size', cell: ({ size }) => sizeOf(size), end: true, wide: true, width: 110 },
        {
          name: 'Uploaded by',
          cell: ({ uploadedBy }) =>
            uploadedBy === undefined ? (
              'The app'
            ) : (
              <Link to="/apps/$appId/users/$uid" params={{ appId, uid: uploadedBy }}>
                {uploadedBy}
              </Link>
            ),
          wide: true,
        },
        {
          name: 'Created',
          cell: ({ createdAt }) => <Time at={createdAt} />,
          wide: true,
          width: 130,
        },
      ]}
      empty={<Empty title="No rejected files">Every file of the last day passed the checks.</Empty>}
    />
  )
}
