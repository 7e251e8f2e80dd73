import type { ApiTool } from '@loquat/sdk'
import { Button, IconButton } from '../../shared/button.tsx'
import { Check, Choice, Field } from '../../shared/form.tsx'

export type Parameter = NonNullable<ApiTool['parameters']>[number]

const TYPES: Record<Parameter['type'], string> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  object: 'Object',
  array: 'List',
}

/** What the model passes to a tool. */
export function Parameters(props: {
  value: Parameter[]
  onChange: (parameters: Parameter[]) => void
}) {
  const { value, onChange } = props
  const change = (nth: number, changes: Partial<Parameter>) =>
    onChange(value.map((one, at) => (at === nth ? { ...one, ...changes } : one)))
  return (
    <fieldset className="fields parameters">
      <legend>Parameters</legend>
      {value.map(({ key, type, description = '', required = false }, nth) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a parameter has no other identity while its name is typed
        <div key={nth} className="parameter">
          <Field
            label="Name"
            mono
            value={key}
            onChange={(name) => change(nth, { key: name })}
            maxLength={64}
          />
          <Choice
            label="Type"
            value={type}
            options={TYPES}
            onChange={(chosen) => change(nth, { type: chosen })}
          />
          <Field
            label="Description"
            required={false}
            value={description}
            onChange={(text) => change(nth, { description: text })}
          />
          <Check
            label="Required"
            checked={required}
            onChange={(on) => change(nth, { required: on })}
          />
          <IconButton
            icon="trash"
            label={`Remove parameter ${key}`}
            onPress={() => onChange(value.filter((_, at) => at !== nth))}
          />
        </div>
      ))}
      <Button icon="plus" onPress={() => onChange([...value, { key: '', type: 'string' }])}>
        Add parameter
      </Button>
    </fieldset>
  )
}
