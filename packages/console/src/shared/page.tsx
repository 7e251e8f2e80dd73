import { type ReactNode, useEffect } from 'react'
import { useApp } from './manage.ts'

/** Sets the title of the document. */
export function useDocumentTitle(...parts: (string | undefined)[]) {
  const title = [...parts, 'Loquat'].filter(Boolean).join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}

/** Sets the document title to the page's title and the app's name. */
export const useTitle = (title: string) => useDocumentTitle(title, useApp().app.data?.name)

/** The frame of a page: heading, description, actions and content. */
export function Page(props: {
  title: string
  /** The heading, if it shows more than the title. */
  heading?: ReactNode
  description?: ReactNode
  actions?: ReactNode
  children: ReactNode
}) {
  const { title, heading, description, actions, children } = props
  useTitle(title)
  return (
    <div className="page">
      <div className="page-head">
        <div>
          <h1>{heading ?? title}</h1>
          {description && <p>{description}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  )
}

export const Panel = ({
  title,
  about,
  children,
}: {
  title?: string
  about?: string
  children: ReactNode
}) => (
  <section className="panel">
    {title && <h2>{title}</h2>}
    {about && <p>{about}</p>}
    {children}
  </section>
)

/** A list of names and values. Leaves out empty values. */
export const Facts = ({ facts }: { facts: Record<string, ReactNode> }) => (
  <dl className="facts">
    {Object.entries(facts).map(
      ([name, value]) =>
        value !== undefined &&
        value !== '' && (
          <div key={name} style={{ display: 'contents' }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
    )}
  </dl>
)

/** A placeholder for loading content. */
export const Skeleton = ({ lines = 6 }: { lines?: number }) => (
  <div className="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <span key={line} />
    ))}
  </div>
)
