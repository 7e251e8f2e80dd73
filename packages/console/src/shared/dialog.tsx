import type { ReactElement, ReactNode } from 'react'
import { Dialog as AriaDialog, DialogTrigger, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { IconButton } from './button.tsx'

interface DialogProps {
  title: string
  wide?: boolean
  children: ReactNode | ((close: () => void) => ReactNode)
}

/** Over the page: a button opens it, or `isOpen` says whether it is. */
export function Dialog(
  props: DialogProps &
    (
      | { trigger: ReactElement; isOpen?: never; onClose?: never }
      | { trigger?: never; isOpen: boolean; onClose: () => void }
    ),
) {
  const { trigger, title, wide, children, isOpen, onClose } = props
  const overlay = (
    <ModalOverlay
      className="overlay"
      isDismissable
      {...(trigger ? {} : { isOpen, onOpenChange: (open: boolean) => open || onClose?.() })}
    >
      <Modal className={wide ? 'modal wide' : 'modal'}>
        <AriaDialog className="dialog">
          {({ close }) => (
            <>
              <header>
                <Heading slot="title" level={2}>
                  {title}
                </Heading>
                <IconButton icon="close" label="Close" onPress={close} />
              </header>
              {typeof children === 'function' ? children(close) : children}
            </>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  )
  if (!trigger) return overlay
  return (
    <DialogTrigger>
      {trigger}
      {overlay}
    </DialogTrigger>
  )
}
