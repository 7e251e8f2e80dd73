import { useState } from 'react'
import { Button as AriaButton } from 'react-aria-components/Button'
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog'
import { Popover } from 'react-aria-components/Popover'
import { Button, IconButton } from './button.tsx'
import { Check, Choice, Field } from './form.tsx'
import { Icon } from './icons.tsx'
import type { Filter, Filters, Search } from './search.ts'

const shownOf = (filter: Filter, text: string) => {
  if (filter.kind === 'flag') return filter.label
  return `${filter.label}: ${filter.kind === 'choice' ? (filter.options[text] ?? text) : text}`
}

/** A button that opens all filters, and the active ones as chips. */
export function FilterBar(props: {
  filters: Filters
  search: Search
  onChange: (search: Search) => void
}) {
  const { filters, search, onChange } = props
  const active = Object.entries(filters).filter(([name]) => search[name])
  return (
    <>
      <DialogTrigger>
        <AriaButton className="button">
          <Icon name="filter" />
          Filters
        </AriaButton>
        <Popover className="popover form-popover" placement="bottom start">
          <Dialog className="dialog" aria-label="Filters">
            {({ close }) => (
              <FilterForm
                filters={filters}
                search={search}
                onApply={(changes) => {
                  onChange(changes)
                  close()
                }}
              />
            )}
          </Dialog>
        </Popover>
      </DialogTrigger>
      {active.map(([name, filter]) => (
        <span key={name} className="chip">
          <span className="clip">{shownOf(filter, search[name] ?? '')}</span>
          <IconButton
            icon="close"
            label={`Remove filter: ${filter.label}`}
            onPress={() => onChange({ [name]: undefined })}
          />
        </span>
      ))}
    </>
  )
}

function FilterForm(props: {
  filters: Filters
  search: Search
  onApply: (changes: Search) => void
}) {
  const { filters, search, onApply } = props
  const [given, setGiven] = useState<Search>(search)
  const names = Object.keys(filters)
  const pick = (from: Search) =>
    Object.fromEntries(names.map((name) => [name, from[name] || undefined]))
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        onApply(pick(given))
      }}
    >
      {Object.entries(filters).map(([name, filter]) => (
        <FilterField
          key={name}
          filter={filter}
          value={given[name] ?? ''}
          onChange={(value) => setGiven((before) => ({ ...before, [name]: value }))}
        />
      ))}
      <div className="form-end">
        <Button onPress={() => onApply(pick({}))}>Clear all</Button>
        <button type="submit" className="button main">
          Apply
        </button>
      </div>
    </form>
  )
}

function FilterField(props: { filter: Filter; value: string; onChange: (value: string) => void }) {
  const { filter, value, onChange } = props
  const { label, hint, kind } = filter
  if (kind === 'flag') {
    return (
      <Check
        label={label}
        checked={value !== ''}
        onChange={(checked) => onChange(checked ? 'true' : '')}
        {...(hint && { hint })}
      />
    )
  }
  if (kind === 'choice') {
    const options = { '': 'Any', ...filter.options }
    return <Choice label={label} value={value} options={options} onChange={onChange} />
  }
  const type = kind === 'time' ? 'datetime-local' : kind === 'number' ? 'number' : 'text'
  const about = hint ?? (kind === 'list' ? 'Separate values with commas.' : undefined)
  return (
    <Field
      label={label}
      type={type}
      required={false}
      hint={about}
      value={value}
      onChange={onChange}
    />
  )
}
