import { LoquatError } from '@loquat/sdk'
import { Button } from './button.tsx'

export const textOf = (error: unknown) =>
  error instanceof LoquatError || error instanceof SyntaxError
    ? error.message
    : 'Something went wrong on this page. Reload the page and try again.'

/** An error message, with the errors of each field and the request id for the logs. */
export function Problem({ error, retry }: { error: unknown; retry?: (() => unknown) | undefined }) {
  if (!error) return null
  const known = error instanceof LoquatError ? error : undefined
  const details = Object.entries(known?.details ?? {})
  return (
    <div role="alert" className="problem">
      <p>{textOf(error)}</p>
      {details.length > 0 && (
        <ul>
          {details.map(([field, texts]) => (
            <li key={field}>
              <code>{field}</code>: {texts.join(' ')}
            </li>
          ))}
        </ul>
      )}
      {known && <small>{[known.code, known.requestId].filter(Boolean).join(' · ')}</small>}
      {retry && <Button onPress={() => void retry()}>Try again</Button>}
    </div>
  )
}
