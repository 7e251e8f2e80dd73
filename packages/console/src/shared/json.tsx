import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copyable.tsx'
import { Dialog } from './dialog.tsx'

/** A value as JSON with syntax colours. React escapes all of it, so nothing can become markup. */
export const Json = ({ value, label = 'JSON' }: { value: unknown; label?: string }) => (
  <div className="code-block json">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
    <section tabIndex={0} aria-label={label}>
      <pre>{shown(value, '')}</pre>
    </section>
    <CopyButton label={label} value={JSON.stringify(value, null, 2) ?? ''} />
  </div>
)

/** A button that opens the whole record as JSON. */
export const JsonButton = ({ value, title }: { value: unknown; title: string }) => (
  <Dialog wide title={title} trigger={<Button icon="braces">JSON</Button>}>
    <Json value={value} label={title} />
  </Dialog>
)

function shown(value: unknown, indent: string): ReactNode {
  if (Array.isArray(value)) {
    return block(
      '[',
      ']',
      value.map((item) => shown(item, `${indent}  `)),
      indent,
    )
  }
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).map(([name, item]) => [
      <span key="name" className="key">
        {JSON.stringify(name)}
      </span>,
      ': ',
      shown(item, `${indent}  `),
    ])
    return block('{', '}', fields, indent)
  }
  const kind = typeof value === 'string' ? 'text' : 'other'
  return <span className={kind}>{JSON.stringify(value)}</span>
}

function block(open: string, close: string, items: ReactNode[], indent: string): ReactNode {
  if (items.length === 0) return open + close
  return [
    `${open}\n`,
    ...items.map((item, at) => [`${indent}  `, item, at < items.length - 1 ? ',\n' : '\n']),
    indent + close,
  ].map((part, at) => <Part key={at.toString()}>{part}</Part>)
}

const Part = ({ children }: { children: ReactNode }) => <>{children}</>
