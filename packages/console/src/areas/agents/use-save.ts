import { useMutation } from '@tanstack/react-query'
import { toast } from '../../shared/toasts.tsx'
import { useAgentsChanged } from './data.ts'

/** Saves a part, refreshes the lists and closes the form. */
export function useSave(name: string, onDone: () => void, save: () => Promise<unknown>) {
  const changed = useAgentsChanged()
  return useMutation({
    mutationFn: async () => {
      await save()
    },
    onSuccess: async () => {
      await changed()
      onDone()
      toast(`Saved ${name}`)
    },
  })
}
