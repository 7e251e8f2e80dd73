import type { Span } from '@opentelemetry/api'

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

/** Without a URL, nothing is traced, at no cost: most of OpenTelemetry isn't even loaded. */
export async function openTracing(url: string): Promise<Tracing> {
  if (url) return (await import('./spans.ts')).openSpans(url)
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
