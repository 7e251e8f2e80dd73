import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Icon } from '../../shared/icons.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { SafeLink, webUrl } from '../../shared/safe-link.tsx'
import { sizeOf } from '../../shared/texts.ts'
import type { Attachment } from './content.ts'

/** URLs of files work for five minutes. */
const LINKS_MS = 4 * 60_000
/** How long to wait after a failure. */
const AGAIN_MS = 10_000

/** A file of a message: a picture, a player, or its name. */
export function Attached({ attachment }: { attachment: Attachment }) {
  const { url, fileId } = attachment
  return fileId ? (
    <Stored attachment={attachment} fileId={fileId} />
  ) : (
    <Shown attachment={attachment} url={url} picture={url} />
  )
}

/** A file that was uploaded here. Its URL needs a credential, so the page asks for one that doesn't. */
function Stored({ attachment, fileId }: { attachment: Attachment; fileId: string }) {
  const appId = useAppId()
  const links = useQuery({
    queryKey: appKey(appId, 'file-links', fileId),
    queryFn: async () => {
      const [found] = await manage.app(appId).files.sign({ ids: [fileId] })
      return found?.links ?? null
    },
    staleTime: LINKS_MS,
    // The links may have been read long before this component asked for them.
    refetchInterval: ({ state: { dataUpdatedAt } }) =>
      Math.max(AGAIN_MS, dataUpdatedAt + LINKS_MS - Date.now()),
  })
  const { file = '', small, large } = links.data ?? {}
  return <Shown attachment={attachment} url={file} picture={large ?? small ?? ''} player={file} />
}

function Shown(props: { attachment: Attachment; url: string; picture: string; player?: string }) {
  const { name, mimeType, size, width, height } = props.attachment
  const [failed, setFailed] = useState(false)
  const [kind] = mimeType.split('/')
  const picture = kind === 'image' && !failed ? webUrl(props.picture) : undefined
  const player = webUrl(props.player)
  return (
    <div className="attached">
      {picture && (
        <img
          src={picture}
          alt={name}
          loading="lazy"
          {...{ width, height }}
          onError={() => setFailed(true)}
        />
      )}
      {(kind === 'audio' || kind === 'video') && player && (
        <Player kind={kind} url={player} title={name} />
      )}
      <p>
        <Icon name="file" />
        <SafeLink href={props.url}>{name}</SafeLink>
        {size !== undefined && <small className="soft">{sizeOf(size)}</small>}
      </p>
    </div>
  )
}

/** Plays a sound or video. A renewed link would start it again, so its URL stays from the first play to the end. */
function Player({ kind, url, title }: { kind: 'audio' | 'video'; url: string; title: string }) {
  const [used, setUsed] = useState<string>()
  const Element = kind
  return (
    <Element
      {...{ controls: true, preload: 'none', title, src: used ?? url }}
      onPlay={() => setUsed(used ?? url)}
      onEnded={() => setUsed(undefined)}
      onError={() => setUsed(undefined)}
    />
  )
}
