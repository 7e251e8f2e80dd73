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

/** Sets whether the dialog must stay open. */
const KeepOpen = createContext<(keepOpen: boolean) => void>(() => undefined)

/** A modal dialog, opened by its trigger or controlled by `isOpen`. */
export function Dialog(
  props: DialogProps &
    (
      | { trigger: ReactElement; isOpen?: never; onClose?: never }
      | { trigger?: never; isOpen: boolean; onClose: () => void }
    ),
) {
  const { trigger, title, wide, children, isOpen, onClose } = props
  const [keptOpen, setKeptOpen] = useState(false)
  const overlay = (
    <ModalOverlay
      className="overlay"
      isDismissable={!keptOpen}
      isKeyboardDismissDisabled={keptOpen}
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
                {!keptOpen && <IconButton icon="close" label="Close" onPress={close} />}
              </header>
              <KeepOpen value={setKeptOpen}>
                {typeof children === 'function' ? children(close) : children}
              </KeepOpen>
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

/** The last step of a dialog, with a value that is shown only once. Only its button closes the dialog. */
export function ShownOnce(props: { onDone: () => void; beside?: ReactNode; children: ReactNode }) {
  const { onDone, beside, children } = props
  const keepOpen = useContext(KeepOpen)
  useLayoutEffect(() => {
    keepOpen(true)
    return () => keepOpen(false)
  }, [keepOpen])
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
