import type { FieldDifference } from './difference.ts'
import './difference.css'

const SIGNS = { same: ' ', added: '+', removed: '−' }

/** Shows the fields that differ, with what was removed and added. */
export const Difference = ({
  differences,
  nameOf = (field) => field,
}: {
  differences: FieldDifference[]
  nameOf?: (field: string) => string
}) => (
  <div className="stack">
    {differences.map(({ field, lines }) => (
      <section key={field} aria-label={nameOf(field)}>
        <h3 className="diff-field">{nameOf(field)}</h3>
        <ol className="diff">
          {lines.map(({ kind, text }, nth) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity
            <li key={nth} className={kind} dir="auto">
              <span className="diff-sign">{SIGNS[kind]}</span>
              <span>{text || ' '}</span>
            </li>
          ))}
        </ol>
      </section>
    ))}
  </div>
)
