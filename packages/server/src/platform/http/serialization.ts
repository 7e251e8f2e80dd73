import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { lazily } from './lazily.ts'

/** As Fastify makes serializers by itself, but each when it is first needed. */
export const buildSerializer: ReturnType<typeof SerializerSelector> = (...options) => {
  const compile = SerializerSelector()(...options)
  return (definition) => {
    const serialize = lazily(() => compile(definition))
    return (answer) => serialize()(answer)
  }
}
