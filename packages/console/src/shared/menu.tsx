import type { ReactElement, ReactNode } from 'react'
import {
  MenuItem as AriaItem,
  Menu as AriaMenu,
  MenuTrigger,
  Popover,
} from 'react-aria-components/Menu'
import { Icon, type IconName } from './icons.tsx'

/** A menu that opens below its trigger. */
export const Menu = ({
  label,
  trigger,
  children,
}: {
  label: string
  trigger: ReactElement
  children: ReactNode
}) => (
  <MenuTrigger>
    {trigger}
    <Popover className="popover">
      <AriaMenu className="menu" aria-label={label}>
        {children}
      </AriaMenu>
    </Popover>
  </MenuTrigger>
)

export const MenuItem = (props: {
  text: string
  about?: string
  icon?: IconName
  danger?: boolean
  /** Makes the item a link. Otherwise it calls `onAction`. */
  href?: string
  onAction?: () => void
}) => (
  <AriaItem
    textValue={props.text}
    className={props.danger ? 'danger' : ''}
    {...(props.href && { href: props.href })}
    {...(props.onAction && { onAction: props.onAction })}
  >
    {props.icon && <Icon name={props.icon} />}
    <span className="clip">
      {props.text}
      {props.about && <small className="clip">{props.about}</small>}
    </span>
  </AriaItem>
)
