import type { Message } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { manage } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

/** Deletes a message as the app. */
export const useDelete = (props: {
  appId: string
  message: Message
  onDone: () => void
  onChanged: () => void
}) =>
  useMutation({
    mutationFn: () => manage.app(props.appId).messages.delete(props.message.id),
    onSuccess: () => {
      props.onDone()
      props.onChanged()
      toast('Message deleted')
    },
  })
