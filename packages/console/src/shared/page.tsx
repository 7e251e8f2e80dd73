import { type ReactNode, useEffect } from 'react'
import { useApp } from './manage.ts'

/** The title of the document. */
export function useDocumentTitle(...parts: (string | undefined)[]) {
  const title = [...parts, 'Loquat'].filter(Boolean).join(' · ')
  useEffect(() => {
    document.title = title
  }, [title])
}

/** What is shown, of which app. */
export const useTitle = (title: string) => useDocumentTitle(title, useApp().app.data?.name)

/** A page: its title, what can be done there, and what it is about. */
export function Page(props: {
  title: string
  /** Of the document, where the heading shows more than the title. */
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

/** What is known of one thing: names and values. */
export const Facts = ({ of }: { of: Record<string, ReactNode> }) => (
  <dl className="facts">
    {Object.entries(of).map(
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

/** In place of what is being read. */
export const Skeleton = ({ lines = 6 }: { lines?: number }) => (
  <div className="skeleton" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, line) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: they are all the same
      <span key={line} />
    ))}
  </div>
)
