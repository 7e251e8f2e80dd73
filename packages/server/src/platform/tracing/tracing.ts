import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Context,
  defaultTextMapGetter,
  ROOT_CONTEXT,
  type Span,
  trace,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

/** Spans of requests and of their SQL statements. */
export interface Tracing {
  /** Runs `next`, and everything that follows from it, in a new span. The caller ends the span. */
  request(headers: Record<string, unknown>, next: () => void): Span | undefined
  /** Runs a statement in a span of its request. */
  statement<T>(name: string, run: () => Promise<T>): Promise<T>
  /** Runs a statement that several requests share. Each of them has a span of its own for it. */
  shared<T>(run: () => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** Without a URL, nothing is traced, at no cost. */
export function openTracing(url: string): Tracing {
  if (!url) {
    return {
      request(_headers, next) {
        next()
        return undefined
      },
      statement: (_name, run) => run(),
      shared: (run) => run(),
      close: async () => {},
    }
  }
  const exporter = new OTLPTraceExporter({ url })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'loquat' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('loquat')
  const propagator = new W3CTraceContextPropagator()
  const current = new AsyncLocalStorage<Context>()

  return {
    request(headers, next) {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
      const span = tracer.startSpan('request', {}, parent)
      current.run(trace.setSpan(parent, span), next)
      return span
    },
    async statement(name, run) {
      const context = current.getStore()
      if (!context) return run()
      const span = tracer.startSpan(name, {}, context)
      return run().finally(() => span.end())
    },
    shared: (run) => current.exit(run),
    close: () => provider.shutdown(),
  }
}
