import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'

const REGIONS = { us: 'United States (US)', eu: 'Europe (EU)', in: 'India (IN)' } as const
type Region = keyof typeof REGIONS

export function CreateApp() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [region, setRegion] = useState<Region>('us')
  const create = useMutation({
    mutationFn: () => manage.apps.create({ name, region }),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['apps'] })
      await navigate({ to: '/apps/$appId', params: { appId: id } })
      toast(`Created ${name}`)
    },
  })
  return (
    <Form mutation={create} submit="Create app">
      <Field label="Name" value={name} onChange={setName} maxLength={100} autoFocus />
      <Choice
        label="Region"
        hint="Where the app's data is stored. You can't change this later."
        value={region}
        options={REGIONS}
        onChange={setRegion}
      />
    </Form>
  )
}
