import type { AgentVariable } from '@loquat/sdk'
import { useState } from 'react'
import { Choice, Field, Form } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { useVariables } from './data.ts'
import { Parts } from './parts.tsx'
import { useSave } from './use-save.ts'

const SOURCES: Record<AgentVariable['sourceType'], string> = {
  constant: 'A constant',
  user_metadata: "The user's metadata",
  message_metadata: "The question's metadata",
}

/** Values that instructions can name. */
export function Variables() {
  const { agentVariables } = manage.app(useAppId())
  const variables = useVariables()
  if (!variables.data) {
    return variables.error ? (
      <Problem error={variables.error} retry={variables.refetch} />
    ) : (
      <Skeleton lines={3} />
    )
  }
  return (
    <Parts
      title="Variables"
      about="Instructions name them as @var-custom:name. Each question gets its own values, of up to 500 characters."
      what="variable"
      parts={variables.data}
      show={(variable) => ({
        ...{ id: variable.name, name: `@var-custom:${variable.name}` },
        about: aboutOf(variable),
      })}
      remove={(id) => agentVariables.delete(id)}
      form={(variable, onDone) => <VariableForm variable={variable} onDone={onDone} />}
    />
  )
}

function aboutOf({
  sourceType,
  sourcePath,
  constantValue,
  defaultValue,
  description,
}: AgentVariable) {
  const source =
    sourceType === 'constant' ? `“${constantValue}”` : `${SOURCES[sourceType]}, ${sourcePath}`
  const fallback = defaultValue && sourceType !== 'constant' ? `, or “${defaultValue}”` : ''
  return [description, `${source}${fallback}.`].filter(Boolean).join(' · ')
}

function VariableForm(props: { variable: AgentVariable | undefined; onDone: () => void }) {
  const { variable, onDone } = props
  const { agentVariables } = manage.app(useAppId())
  const [name, setName] = useState(variable?.name ?? '')
  const [description, setDescription] = useState(variable?.description ?? '')
  const [sourceType, setSourceType] = useState(variable?.sourceType ?? 'constant')
  const [value, setValue] = useState(variable?.constantValue ?? '')
  const [path, setPath] = useState(variable?.sourcePath ?? '')
  const [fallback, setFallback] = useState(variable?.defaultValue ?? '')
  const save = useSave(name, onDone, () => {
    const fields = {
      ...{ sourceType, description },
      ...(sourceType === 'constant'
        ? { constantValue: value }
        : { sourcePath: path, defaultValue: fallback }),
    }
    return variable
      ? agentVariables.update(name, fields)
      : agentVariables.create({ name, ...fields })
  })
  return (
    <Form mutation={save} submit={variable ? 'Save' : 'Add variable'}>
      <div className="pair">
        {!variable && (
          <Field
            label="Name"
            hint="Begins with a letter. You can't change it later."
            mono
            value={name}
            onChange={setName}
            maxLength={50}
            autoFocus
          />
        )}
        <Choice label="Value" value={sourceType} options={SOURCES} onChange={setSourceType} />
      </div>
      {sourceType === 'constant' ? (
        <Field label="Text" value={value} onChange={setValue} maxLength={500} />
      ) : (
        <div className="pair">
          <Field
            label="Field"
            hint="Names of fields, separated by dots: clinic.ward"
            mono
            value={path}
            onChange={setPath}
            maxLength={100}
          />
          <Field
            label="If there is none"
            required={false}
            value={fallback}
            onChange={setFallback}
            maxLength={200}
          />
        </div>
      )}
      <Field
        label="Description"
        required={false}
        value={description}
        onChange={setDescription}
        maxLength={200}
      />
    </Form>
  )
}
