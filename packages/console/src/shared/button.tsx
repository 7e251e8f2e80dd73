import type { ButtonHTMLAttributes } from 'react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button'
import { Icon, type IconName } from './icons.tsx'

interface Looks {
  /** `main`: what the page is for. `quiet`: no border. */
  look?: 'main' | 'quiet' | 'danger' | 'danger main' | undefined
  icon?: IconName | undefined
}

/** A button; also what opens a dialog or a menu. */
export function Button({
  look,
  icon,
  children,
  ...props
}: ButtonProps & Looks & { children: string }) {
  return (
    <AriaButton {...props} className={`button ${look ?? ''}`}>
      {icon && <Icon name={icon} />}
      {children}
    </AriaButton>
  )
}

/** A button that shows no text: its label is read out, and shown as a title. */
export function IconButton({
  icon,
  label,
  look = 'quiet',
  ...props
}: ButtonProps & Looks & { icon: IconName; label: string }) {
  return (
    <AriaButton
      {...props}
      className={`button icon ${look}`}
      aria-label={label}
      render={(button) => (
        <button {...(button as ButtonHTMLAttributes<HTMLButtonElement>)} title={label} />
      )}
    >
      <Icon name={icon} />
    </AriaButton>
  )
}
