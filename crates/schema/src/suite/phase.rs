//! Phases: the purposes for which a cell is measured.

crate::names! {
    /// The purpose for which a cell is measured. A workload with several phases becomes a workload for
    /// each of them.
    #[derive(Default)]
    pub enum Phase "phase" {
        /// Maximum throughput: the load model of the workload, usually a closed loop; the figure is the
        /// rate.
        #[default]
        Saturate = "saturate",
        /// Cost: one constant rate that every variant holds; the figures are the server's CPU time per
        /// request and the latency.
        Cost = "cost",
        /// Cost of idle connections: open connections that stay silent; the figures are memory and CPU
        /// time.
        Idle = "idle",
    }
}

impl Phase {
    /// The difference below which two throughputs, or two costs of a request, count as the same,
    /// unless another one is asked for.
    #[must_use]
    pub const fn usual_margin(self) -> f64 {
        match self {
            Self::Saturate => 0.03,
            Self::Cost | Self::Idle => 0.05,
        }
    }
}
