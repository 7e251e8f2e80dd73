import { generate } from 'lean-qr'
import { toSvgPath } from 'lean-qr/extras/svg'

/** The quiet zone around the code. Cameras need it to find the code. */
const MARGIN = 4

/** A QR code. Always dark on light, so that cameras can read it in both themes. */
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
