import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { lazily } from '../lazily.ts'

/** Builds Fastify's default serializers, but each one only when it is first needed. */
export const buildSerializer: ReturnType<typeof SerializerSelector> = (...options) => {
  const compile = SerializerSelector()(...options)
  return (definition) => {
    const serialize = lazily(() => compile(definition))
    return (answer) => serialize()(answer)
  }
}

interface TypedReply<R> {
  type(contentType: string): { send(answer: never): R }
}

/** Sends JSON text from PostgreSQL as it is, whatever type the route declares. */
export const sendJson = <R>(reply: TypedReply<R>, json: string | Buffer): R =>
  reply.type('application/json; charset=utf-8').send(json as never)
