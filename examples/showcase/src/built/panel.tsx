import { Icon } from '@loquat/react'
import { useEffect, useRef, useState } from 'react'
import type { Look } from '../look.ts'
import { Highlighted } from './highlighted.tsx'

/** The files of src/parts, as they are. */
const SOURCES = import.meta.glob<string>('../parts/*.tsx', {
  ...{ query: '?raw', import: 'default', eager: true },
})

const PARTS = {
  provider: 'Provider',
  conversations: 'Conversations',
  conversation: 'Conversation',
  thread: 'Thread',
  search: 'Search',
  details: 'Details',
  start: 'New conversation',
  notifications: 'Notifications',
  agents: 'Agents',
} as const

export type BuiltPart = keyof typeof PARTS

/** The part of the page that an element belongs to. */
export function partAround(element: EventTarget): BuiltPart | undefined {
  const pane = element instanceof Element && element.closest<HTMLElement>('[data-part]')
  return (pane || undefined)?.dataset.part as BuiltPart | undefined
}

interface HowItIsBuiltProps {
  part: BuiltPart
  look: Look
  onPart: (part: BuiltPart) => void
  onLook: (changed: Partial<Look>) => void
  onClose: () => void
}

/** The code of the part in focus, and the properties of the provider to play with. */
export function HowItIsBuilt({ part, look, onPart, onLook, onClose }: HowItIsBuiltProps) {
  const source = SOURCES[`../parts/${part}.tsx`] ?? ''
  return (
    <section className="built" aria-label="How this is built" dir="ltr">
      <header>
        <strong>How this is built</strong>
        <nav aria-label="Parts">
          {Object.entries(PARTS).map(([key, name]) => (
            <button
              key={key}
              type="button"
              aria-current={key === part || undefined}
              onClick={() => onPart(key as BuiltPart)}
            >
              {name}
            </button>
          ))}
        </nav>
        <button type="button" className="lq-tool" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="built-main">
        <div className="built-code">
          <p>
            <code>examples/showcase/src/parts/{part}.tsx</code>
            <CopyButton text={source} />
          </p>
          <Code key={part} source={source} />
        </div>
        <Looks look={look} onLook={onLook} />
      </div>
    </section>
  )
}

/** Begins below the imports. */
function Code({ source }: { source: string }) {
  const pre = useRef<HTMLPreElement>(null)
  useEffect(() => {
    const { current: element } = pre
    const above = source.slice(0, source.indexOf('/**')).split('\n').length - 1
    if (element) element.scrollTop = above * Number.parseFloat(getComputedStyle(element).lineHeight)
  }, [source])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <pre ref={pre} tabIndex={0}>
      <Highlighted source={source} />
    </pre>
  )
}

function CopyButton({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <button
      type="button"
      className="lq-link"
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
      onBlur={() => setCopied(false)}
    >
      {isCopied ? 'Copied' : 'Copy'}
    </button>
  )
}

const LOOKS = {
  layout: { workspace: 'Workspace', messenger: 'Messenger' },
  theme: { '': 'System', light: 'Light', dark: 'Dark' },
  density: { comfortable: 'Comfortable', compact: 'Compact' },
  language: { en: 'English', es: 'Español', ar: 'العربية' },
}

/** Changes the properties of the provider. */
function Looks({ look, onLook }: Pick<HowItIsBuiltProps, 'look' | 'onLook'>) {
  return (
    <div className="built-looks">
      {Object.entries(LOOKS).map(([name, values]) => (
        <label key={name}>
          {name}
          <select
            value={look[name as keyof Look] ?? ''}
            onChange={({ target }) => onLook({ [name]: target.value || undefined })}
          >
            {Object.entries(values).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      ))}
    </div>
  )
}
