import type { KeyboardEvent } from 'react'

/** Whether the key is for an input method: Enter accepts its suggestion. Safari ends the composition before that key. */
export const isComposing = ({ nativeEvent: { isComposing, keyCode } }: KeyboardEvent) =>
  isComposing || keyCode === 229
