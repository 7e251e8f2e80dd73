import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'

/** Room around it, without which cameras do not find it. */
const MARGIN = 4

/** A text as a picture for a camera: dark on light, whatever the theme. */
export function Qr({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const size = code.size + 2 * MARGIN
  return (
    <svg
      className="qr"
      role="img"
      aria-label={label}
      viewBox={`${-MARGIN} ${-MARGIN} ${size} ${size}`}
    >
      <rect x={-MARGIN} y={-MARGIN} width={size} height={size} fill="#fff" />
      <path d={toSvgPath(code)} fill="#000" fillRule="evenodd" />
    </svg>
  )
}
