import { type KeyboardEvent, type PointerEvent, useId, useState } from 'react'
import { areaOf, pathOf, roundUp } from './scale.ts'

export interface Line {
  name: string
  values: number[]
  /** What went wrong, drawn as such. */
  isFailure?: boolean
}

const number = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
const short = new Intl.NumberFormat('en', { notation: 'compact' })

const toneOf = ({ isFailure }: Line, n: number) => `tone-${isFailure ? 'failure' : n}`

/** Days are UTC days, in every time zone. */
const dayText = (day: string) =>
  new Date(day).toLocaleDateString('en', { dateStyle: 'medium', timeZone: 'UTC' })

const sum = (values: number[]) => values.reduce((all, value) => all + value, 0)

const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -7,
  PageUp: 7,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** A line chart of daily values. The pointer or the arrow keys select a day, and a table lists all values. */
export function Chart(props: {
  title: string
  /** Shown below the title: a sum or a maximum. */
  total: string
  days: string[]
  lines: Line[]
}) {
  const { title, total, days, lines } = props
  const id = useId()
  const [chosen, setChosen] = useState<number>()
  const last = days.length - 1
  const max = roundUp(Math.max(...lines.flatMap(({ values }) => values)))
  const choose = (n: number) => setChosen(Math.max(0, Math.min(last, n)))
  const describe = (n: number) =>
    `${dayText(days[n] ?? '')}: ${lines
      .map(({ name, values }) => `${number.format(values[n] ?? 0)} ${name}`)
      .join(', ')}`

  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key]
    if (step === undefined) return
    event.preventDefault()
    choose((chosen ?? last) + step)
  }
  const onPointerMove = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect()
    choose(Math.round(((clientX - left) / width) * last))
  }
  return (
    <section className="panel chart" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <p>{chosen === undefined ? total : describe(chosen)}</p>
        {lines.length > 1 && (
          <ul className="legend" aria-hidden="true">
            {lines.map((line, n) => (
              <li key={line.name} className={toneOf(line, n)}>
                {line.name}
              </li>
            ))}
          </ul>
        )}
      </header>
      <div
        className="plot"
        role="slider"
        tabIndex={0}
        aria-label={`${title} by day`}
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={chosen ?? last}
        aria-valuetext={describe(chosen ?? last)}
        onKeyDown={onKeyDown}
        onBlur={() => setChosen(undefined)}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setChosen(undefined)}
      >
        <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
          <path className="grid" d="M0 0H100M0 50H100M0 100H100" />
          {lines.map((line, n) => (
            <g key={line.name} className={toneOf(line, n)}>
              {n === 0 && <path className="area" d={areaOf(line.values, max)} />}
              <path className="line" d={pathOf(line.values, max)} />
            </g>
          ))}
          {chosen !== undefined && (
            <path className="mark" d={`M${(chosen / Math.max(last, 1)) * 100} 0V100`} />
          )}
        </svg>
        <ol className="axis" aria-hidden="true">
          {[max, max / 2, 0].map((value) => (
            <li key={value}>{short.format(value)}</li>
          ))}
        </ol>
      </div>
      <p className="span" aria-hidden="true">
        <span>{dayText(days[0] ?? '')}</span>
        <span>{dayText(days[last] ?? '')}</span>
      </p>
      <details>
        <summary>
          View as table<span className="hidden-text">: {title}</span>
        </summary>
        <DayTable {...props} />
      </details>
    </section>
  )
}

function DayTable({ title, days, lines }: { title: string; days: string[]; lines: Line[] }) {
  return (
    <div className="chart-table">
      <table>
        <caption className="hidden-text">{title}</caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {lines.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day, n) => (
            <tr key={day}>
              <th scope="row">{dayText(day)}</th>
              {lines.map(({ name, values }) => (
                <td key={name}>{number.format(values[n] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

export const sumText = (values: number[]) => number.format(sum(values))
export const mostText = (values: number[]) => number.format(Math.max(0, ...values))
