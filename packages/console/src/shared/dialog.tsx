import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useLayoutEffect,
  useState,
} from 'react'
import { Dialog as AriaDialog, DialogTrigger, Heading } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { Button, IconButton } from './button.tsx'

interface DialogProps {
  title: string
  wide?: boolean
  children: ReactNode | ((close: () => void) => ReactNode)
}

/** Says whether the dialog is held open. */
const Hold = createContext<(held: boolean) => void>(() => undefined)

/** Over the page: a button opens it, or `isOpen` says whether it is. */
export function Dialog(
  props: DialogProps &
    (
      | { trigger: ReactElement; isOpen?: never; onClose?: never }
      | { trigger?: never; isOpen: boolean; onClose: () => void }
    ),
) {
  const { trigger, title, wide, children, isOpen, onClose } = props
  const [held, setHeld] = useState(false)
  const overlay = (
    <ModalOverlay
      className="overlay"
      isDismissable={!held}
      isKeyboardDismissDisabled={held}
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
                {!held && <IconButton icon="close" label="Close" onPress={close} />}
              </header>
              <Hold value={setHeld}>
                {typeof children === 'function' ? children(close) : children}
              </Hold>
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

/** The end of a dialog that shows what is never shown again: nothing but its button closes it. */
export function ShownOnce(props: { onDone: () => void; beside?: ReactNode; children: ReactNode }) {
  const { onDone, beside, children } = props
  const hold = useContext(Hold)
  useLayoutEffect(() => {
    hold(true)
    return () => hold(false)
  }, [hold])
  return (
    <div className="stack">
      {children}
      <div className="form-end">
        {beside}
        <Button look="main" onPress={onDone}>
          Done
        </Button>
      </div>
    </div>
  )
}
