//! What a run says of itself: what a reader must know before trusting the figures. `evidence` has its facts, and which
//! side was at its limit.

mod evidence;
mod sides;

pub use self::evidence::{Evidence, Processes, ServerEnd};
pub(crate) use self::sides::not_verified;

use wirebench_schema::{
    journal::{Reason, ReasonKind, ToolReport, Weight},
    load::LoadReport,
};

use crate::{
    load::{gave_up, reasons},
    neighbours::{Arrivals, throttled_first},
};

impl Evidence {
    /// Findings that a reader must know before trusting the figures, each with the next step.
    #[must_use]
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons = match &self.tool {
            None => reasons(&self.load, self.phase, self.windows),
            Some(tool) => by_another_generator(&self.load, tool),
        };
        let others = self.disturbances();
        // A side that waited for a CPU did not wait for the other side.
        let bound = self.limit().filter(|reason| {
            reason.kind != ReasonKind::NeitherBound
                || Weight::heaviest(&others) != Some(Weight::Invalid)
        });
        reasons.extend(bound);
        reasons.extend(sides::placement(&self.placement));
        reasons.extend(sides::not_verified(self.verification));
        reasons.extend(sides::cost(self));
        reasons.extend(sides::end(&self.end));
        reasons.extend(others);
        blame_output(&mut reasons);
        throttled_first(&mut reasons);
        let named = |reason: Reason| match reason.kind {
            ReasonKind::Neighbour | ReasonKind::GeneratorStall => reason.by(&self.programs),
            _ => reason,
        };
        let (request_ns, connections) =
            (self.cost.cpu_ns_per_request, self.load.config.connections);
        let of_instance = self.instance.iter();
        let of_instance =
            of_instance.flat_map(|it| it.reasons(&self.placement, request_ns, connections));
        reasons.into_iter().map(named).chain(of_instance).collect()
    }

    /// What others did on the CPUs in the window, or in the visits that count.
    fn disturbances(&self) -> Vec<Reason> {
        let arrivals = Arrivals::of(&self.load.config.model);
        match &self.instance {
            None => self.machine.reasons(arrivals),
            Some(instance) => instance.disturbances(&self.placement, &self.programs, arrivals),
        }
    }
}

/// Findings about a load that a third-party generator has generated.
fn by_another_generator(load: &LoadReport, tool: &ToolReport) -> Vec<Reason> {
    let generator = &tool.generator;
    let detail = format!("{generator}; the server's CPU time includes connecting");
    let mut reasons = vec![ReasonKind::ForeignGenerator.reason(Weight::Note, None, detail)];
    let errors = load.errors.total();
    if errors > 0 {
        let kinds = error_kinds(load);
        reasons.push(ReasonKind::Errors.reason(Weight::Invalid, Some(errors as f64), kinds));
    }
    reasons
}

/// How many errors of each kind there were.
fn error_kinds(load: &LoadReport) -> String {
    let kinds = load.errors.kinds().into_iter().filter(|(_, count)| *count > 0);
    let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{count} {kind}")).collect();
    kinds.join(", ")
}

/// wirebench reads what a server writes, and to the clocks that is another program. The output is then
/// the reason, with the weight of that program.
fn blame_output(reasons: &mut Vec<Reason>) {
    let programs = reasons.iter().filter(|it| it.kind == ReasonKind::Neighbour);
    let weight = programs.map(|it| it.weight).max();
    let output = reasons.iter_mut().find(|it| it.kind == ReasonKind::Stderr);
    if let Some((output, weight)) = output.zip(weight) {
        output.weight = output.weight.max(weight);
        reasons.retain(|it| it.kind != ReasonKind::Neighbour);
    }
}

/// What the end of a server says against it, whatever was measured with it.
#[must_use]
pub fn end_reasons(end: &ServerEnd) -> Vec<Reason> {
    sides::end(end)
}

/// Why a load has no figures: nothing was answered correctly.
#[must_use]
pub fn nothing_answered(load: &LoadReport) -> String {
    let mut reason = "no valid reply in the window".to_owned();
    let examples: Vec<String> =
        load.error_examples.iter().map(ToString::to_string).chain(gave_up(load)).collect();
    for example in &examples {
        reason += &format!(": {example}");
    }
    if examples.is_empty() && load.errors.total() > 0 {
        reason += &format!(": {}", error_kinds(load));
    }
    reason
}

#[cfg(test)]
mod tests;
