import type { ApiTool } from '@loquat/sdk'
import { useState } from 'react'
import { Check, Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { manage, useAppId } from '../../shared/manage.ts'
import { Parameters } from './parameters.tsx'
import { ApprovalCheck, HeadersField, SlugField } from './part-forms.tsx'
import { useSave } from './use-save.ts'

const METHODS = { GET: 'GET', POST: 'POST', PUT: 'PUT', PATCH: 'PATCH', DELETE: 'DELETE' }

/** Adds an HTTP call that the model can make, or changes one. */
export function ApiToolForm({ tool, onDone }: { tool: ApiTool | undefined; onDone: () => void }) {
  const { apiTools } = manage.app(useAppId())
  const [slug, setSlug] = useState('')
  const [name, setName] = useState(tool?.name ?? '')
  const [description, setDescription] = useState(tool?.description ?? '')
  const [method, setMethod] = useState<ApiTool['method']>(tool?.method ?? 'GET')
  const [endpoint, setEndpoint] = useState(tool?.endpoint ?? '')
  const [parameters, setParameters] = useState(tool?.parameters ?? [])
  const [body, setBody] = useState(tool?.bodyTemplate ?? '')
  const [basic, setBasic] = useState(tool?.enableBasicAuth ?? false)
  const [username, setUsername] = useState(tool?.basicAuthUsername ?? '')
  const [password, setPassword] = useState('')
  const [headers, setHeaders] = useState('')
  const [asks, setAsks] = useState(tool?.requiresApproval ?? false)
  const [idempotent, setIdempotent] = useState(tool?.idempotent ?? false)
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const save = useSave(name || slug, onDone, () => {
    const fields = {
      ...{ description, method, endpoint, parameters, enableBasicAuth: basic },
      ...{ requiresApproval: asks, idempotent },
      ...(name && { name }),
      ...(hasBody && { bodyTemplate: body }),
      ...(basic && { basicAuthUsername: username }),
      ...(basic && password && { basicAuthPassword: password }),
      ...(headers && { headers }),
    }
    return tool ? apiTools.update(tool.slug, fields) : apiTools.create({ slug, ...fields })
  })
  return (
    <Form mutation={save} submit={tool ? 'Save' : 'Add API tool'}>
      <div className="pair">
        {!tool && <SlugField value={slug} onChange={setSlug} />}
        <Field label="Name" required={false} value={name} onChange={setName} maxLength={100} />
      </div>
      <TextArea
        label="Description"
        hint="When the model should use it."
        required
        value={description}
        onChange={setDescription}
      />
      <div className="call-line">
        <Choice label="Method" value={method} options={METHODS as never} onChange={setMethod} />
        <Field
          label="URL"
          hint="Begins with https:// and is on the public internet."
          mono
          value={endpoint}
          onChange={setEndpoint}
        />
      </div>
      <Parameters value={parameters} onChange={setParameters} />
      {hasBody && (
        <TextArea
          label="Body"
          hint="{{name}} stands for a parameter or a variable. Empty: the parameters as JSON."
          mono
          value={body}
          onChange={setBody}
        />
      )}
      <ApprovalCheck checked={asks} onChange={setAsks} />
      {method !== 'GET' && (
        <Check
          label="Can be called again"
          hint="After a crash, a call that was cut off is repeated. Otherwise the answer fails."
          checked={idempotent}
          onChange={setIdempotent}
        />
      )}
      <HeadersField has={tool?.hasHeaders} value={headers} onChange={setHeaders} />
      <Check label="Basic authentication" checked={basic} onChange={setBasic} />
      {basic && (
        <div className="pair">
          <Field label="User name" autoComplete="off" value={username} onChange={setUsername} />
          <Field
            label="Password"
            hint={tool?.hasBasicAuthPassword ? 'Leave it empty to keep it.' : undefined}
            type="password"
            autoComplete="new-password"
            required={!tool?.hasBasicAuthPassword}
            value={password}
            onChange={setPassword}
          />
        </div>
      )}
    </Form>
  )
}
