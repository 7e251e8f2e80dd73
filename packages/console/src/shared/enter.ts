import type { KeyboardEvent } from 'react'

/** Lets Enter submit the form of a text area. Shift and Enter break the line. */
export function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  // Enter accepts the suggestion of an input method. Safari ends the composition before that key.
  const { isComposing, keyCode } = event.nativeEvent
  if (event.key !== 'Enter' || event.shiftKey || isComposing || keyCode === 229) return
  event.preventDefault()
  event.currentTarget.form?.requestSubmit()
}
