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

interface TypedReply<R> {
  type(contentType: string): { send(answer: never): R }
}

/** Answers with JSON that PostgreSQL made: it goes out as it is, whatever type the route declares. */
export const sendJson = <R>(reply: TypedReply<R>, json: string): R =>
  reply.type('application/json; charset=utf-8').send(json as never)
