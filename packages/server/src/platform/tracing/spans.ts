import { AsyncLocalStorage } from 'node:async_hooks'
import { type Context, defaultTextMapGetter, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'

/** The `Tracing` that sends spans to an OpenTelemetry collector. */
export function openSpans(url: string) {
  const exporter = new OTLPTraceExporter({ url })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'loquat' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  const tracer = provider.getTracer('loquat')
  const propagator = new W3CTraceContextPropagator()
  const current = new AsyncLocalStorage<Context>()

  return {
    request(headers: Record<string, unknown>, next: () => void) {
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)
      const span = tracer.startSpan('request', {}, parent)
      current.run(trace.setSpan(parent, span), next)
      return span
    },
    async statement<T>(name: string, run: () => Promise<T>): Promise<T> {
      const context = current.getStore()
      if (!context) return run()
      const span = tracer.startSpan(name, {}, context)
      return run().finally(() => span.end())
    },
    shared: <T>(run: () => Promise<T>) => current.exit(run),
    close: () => provider.shutdown(),
  }
}
