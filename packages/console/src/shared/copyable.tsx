import { useState } from 'react'
import { IconButton } from './button.tsx'
import { toast } from './toasts.tsx'

export function CopyButton({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      setCopied(true)
      setTimeout(() => setCopied(false), 2_000)
    } catch {
      // Pages without TLS have no clipboard, and people can deny access to it.
      toast('Your browser blocked copying. Select the text and copy it yourself.', 'warn')
    }
  }
  return (
    <IconButton
      icon={copied ? 'check' : 'copy'}
      label={copied ? 'Copied' : `Copy ${label}`}
      onPress={() => void copy()}
    />
  )
}

/** How much of a secret shows which one it is. */
const SHOWN_OF_SECRET = 6

/** A value with a copy button. A secret is hidden until somebody wants to see it. */
export function Copyable(props: { label: string; value: string; secret?: boolean }) {
  const { label, value, secret = false } = props
  const [shown, setShown] = useState(!secret)
  return (
    <div className="copyable">
      <span>{label}</span>
      <code>{shown ? value : `${value.slice(0, SHOWN_OF_SECRET)}${'•'.repeat(12)}`}</code>
      <span className="copyable-buttons">
        {secret && (
          <IconButton
            icon="eye"
            label={`${shown ? 'Hide' : 'Show'} ${label}`}
            onPress={() => setShown(!shown)}
          />
        )}
        <CopyButton label={label} value={value} />
      </span>
    </div>
  )
}

/** A block of code with a copy button. */
export const CodeBlock = ({ label, code }: { label: string; code: string }) => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard */}
    <section tabIndex={0} aria-label={label}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
    <CopyButton label={label} value={code} />
  </div>
)
