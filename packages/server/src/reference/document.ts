/** The part of an OpenAPI document that the reference reads and completes. */

export interface ApiDocument {
  info: { title: string; description?: string }
  servers?: { url: string; description?: string; variables?: Record<string, unknown> }[]
  tags?: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

export interface Operation {
  operationId: string
  summary: string
  description?: string
  deprecated?: boolean
  tags: string[]
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content & { description?: string }>
  security?: Record<string, string[]>[]
  'x-scope'?: string
  'x-users'?: boolean | 'self'
  'x-rate-class'?: string
  'x-session-only'?: boolean
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
  example?: unknown
}

interface Content {
  content?: Record<string, { schema: Schema; examples?: Record<string, NamedExample> }>
}

interface NamedExample {
  summary: string
  value: unknown
}

export interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  patternProperties?: Record<string, Schema>
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
}
