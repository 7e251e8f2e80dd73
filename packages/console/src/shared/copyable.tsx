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
      // Browsers have no clipboard for pages without TLS, and people can refuse it.
      toast('The browser does not let this page copy: select the text', 'warn')
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

/** A text to copy, shown as it is. */
export const Copyable = ({ label, value }: { label: string; value: string }) => (
  <div className="copyable">
    <span>{label}</span>
    <code>{value}</code>
    <CopyButton label={label} value={value} />
  </div>
)

/** Lines to copy. */
export const CodeBlock = ({ label, code }: { label: string; code: string }) => (
  <div className="code-block">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
    <section tabIndex={0} aria-label={label}>
      <pre>
        <code>{code}</code>
      </pre>
    </section>
    <CopyButton label={label} value={code} />
  </div>
)
