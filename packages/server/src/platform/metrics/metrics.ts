import type { RequestListener } from 'node:http'
import type { Attributes, Counter, Histogram } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

/** What a gauge shows when it is looked at: a value for each set of attributes. */
export type Readings = Iterable<[value: number, attributes?: Attributes]>

export interface Metrics {
  /** Seconds of each statement, by name and database. */
  statements: Histogram
  /** Seconds of each request, by operation, method and status. */
  requests: Histogram
  /** Events that were given their positions, by cell. */
  events: Counter
  /** Seconds of each call of a webhook, by what came of it. */
  webhookCalls: Histogram
  /** Adds something that is read when somebody asks for the metrics. */
  gauge(name: string, description: string, read: () => Readings | Promise<Readings>): void
  /** Answers in Prometheus' text format. */
  handler: RequestListener
  close(): Promise<void>
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function openMetrics(): Metrics {
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const meter = provider.getMeter('loquat')
  const times = (name: string, description: string) =>
    meter.createHistogram(name, {
      description,
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    })
  return {
    statements: times(
      'loquat_db_statement_seconds',
      'Time of a statement as the service sees it, by name and database.',
    ),
    requests: times(
      'loquat_http_request_seconds',
      'Time of a request from its arrival to its answer.',
    ),
    events: meter.createCounter('loquat_events_total', {
      description: 'Events that this process gave their positions, by cell.',
    }),
    webhookCalls: times(
      'loquat_webhook_call_seconds',
      'Time of a call of a webhook, by outcome: delivered, refused or unreachable.',
    ),
    gauge(name, description, read) {
      meter.createObservableGauge(name, { description }).addCallback(async (result) => {
        for (const [value, attributes] of await read()) result.observe(value, attributes)
      })
    },
    handler: (request, response) => exporter.getMetricsRequestHandler(request, response),
    close: () => provider.shutdown(),
  }
}
