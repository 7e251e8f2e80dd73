'use client'
import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'

interface PopoverProps {
  /** What it belongs to. The focus returns there. */
  anchor: RefObject<HTMLElement | null>
  label: string
  role?: 'dialog' | 'menu' | 'listbox' | undefined
  onClose: () => void
  children: ReactNode
  className?: string | undefined
}

const GAP = 6
const MARGIN = 8

/** The place next to the anchor where it fits into the window: above if there is room, else below. */
function placeOf(opener: HTMLElement, { offsetWidth: width, offsetHeight: height }: HTMLElement) {
  const anchor = opener.getBoundingClientRect()
  // The page around the kit may have another direction.
  const isRtl = getComputedStyle(opener).direction === 'rtl'
  const above = anchor.top - height - GAP
  const below = Math.min(anchor.bottom + GAP, innerHeight - height - MARGIN)
  const wanted = isRtl ? anchor.left : anchor.right - width
  const left = Math.max(MARGIN, Math.min(wanted, innerWidth - width - MARGIN))
  return { left, top: Math.max(MARGIN, above >= MARGIN ? above : below) }
}

/**
 * Shows its content next to an element, above everything else. It is the browser's own popover: a click elsewhere and
 * Escape close it.
 */
export function Popover({
  anchor,
  label,
  role = 'dialog',
  onClose,
  children,
  className = '',
}: PopoverProps) {
  const ref = useRef<HTMLDivElement>(null)
  const close = useRef(onClose)
  close.current = onClose
  useLayoutEffect(() => {
    const element = ref.current
    const opener = anchor.current
    if (!element || !opener) return
    const listen = (event: Event) => {
      if ((event as ToggleEvent).newState === 'closed') close.current()
    }
    element.addEventListener('toggle', listen)
    element.showPopover()
    const { left, top } = placeOf(opener, element)
    element.style.left = `${left}px`
    element.style.top = `${top}px`
    element.querySelector<HTMLElement>('[data-autofocus], button, input')?.focus()
    return () => {
      element.removeEventListener('toggle', listen)
      const hadFocus = element.contains(document.activeElement)
      if (element.isConnected) element.hidePopover()
      if (hadFocus || document.activeElement === document.body) opener.focus()
    }
  }, [anchor])
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: all of its roles can have a label
    <div
      ref={ref}
      popover="auto"
      role={role}
      aria-label={label}
      className={`lq-popover ${className}`}
    >
      {children}
    </div>
  )
}

/** Moves the focus with the arrow keys among the buttons of an element. */
export function moveFocus(event: React.KeyboardEvent<HTMLElement>, columns = 1): void {
  const isRtl = getComputedStyle(event.currentTarget).direction === 'rtl'
  const side = columns > 1 ? (isRtl ? -1 : 1) : 0
  const steps: Record<string, number> = {
    ...{ ArrowDown: columns, ArrowUp: -columns, ArrowRight: side, ArrowLeft: -side },
  }
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('button:not(:disabled)')]
  const at = buttons.indexOf(document.activeElement as HTMLElement)
  const step = steps[event.key]
  const next =
    event.key === 'Home'
      ? 0
      : event.key === 'End'
        ? buttons.length - 1
        : step
          ? at + step
          : undefined
  if (next === undefined || at < 0) return
  event.preventDefault()
  buttons[Math.max(0, Math.min(next, buttons.length - 1))]?.focus()
}
