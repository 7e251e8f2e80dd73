import type { RequestListener } from 'node:http'
import type { Histogram, Meter } from '@opentelemetry/api'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'

export interface Metrics {
  meter: Meter
  /** Seconds of each statement, by name and database. */
  statements: Histogram
  /** Seconds of each request, by operation, method and status. */
  requests: Histogram
  /** Answers in Prometheus' text format. */
  handler: RequestListener
  close(): Promise<void>
}

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export function openMetrics(): Metrics {
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true })
  const provider = new MeterProvider({ readers: [exporter] })
  const meter = provider.getMeter('loquat')
  return {
    meter,
    statements: meter.createHistogram('loquat_db_statement_seconds', {
      description: 'Time of a statement as the service sees it, by name and database.',
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    }),
    requests: meter.createHistogram('loquat_http_request_seconds', {
      description: 'Time of a request from its arrival to its answer.',
      unit: 's',
      advice: { explicitBucketBoundaries: SECONDS },
    }),
    handler: (request, response) => exporter.getMetricsRequestHandler(request, response),
    close: () => provider.shutdown(),
  }
}
