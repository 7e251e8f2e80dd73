import type { ButtonHTMLAttributes } from 'react'
import { Button as AriaButton, type ButtonProps } from 'react-aria-components/Button'
import { Icon, type IconName } from './icons.tsx'

interface Looks {
  /** `main`: the primary action. `quiet`: no border. */
  look?: 'main' | 'quiet' | 'danger' | 'danger main' | undefined
  icon?: IconName | undefined
}

/** A button. It can also be the trigger of a dialog or menu. */
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

/** A button with only an icon. Screen readers and the tooltip get the label. */
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
