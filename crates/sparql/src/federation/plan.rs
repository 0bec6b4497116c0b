//! Query planning for `SERVICE`: the bindings sent to each service, and the operator that replaces the clause.

use super::super::algebra::{
    Variables, certain_variables, count_services, each_child, each_exists, each_inside,
    has_service, in_scope, name_blank_nodes, read_by, weigh_constants,
};
use super::super::{
    EvaluationContext, Provenance, QueryRequest, SparqlError, SparqlLimits, evaluation_error,
};
use super::conditions::portable_condition;
use super::service_rows::{Context, RowSourceInputs, ServiceRows, Target};
use super::{NoServices, Services};
use oxigraph::sparql::{CancellationToken, QuerySolutionIter, ServiceHandler};
use oxrdf::{NamedNode, Variable};
use spargebra::Query;
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern, TriplePattern};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::mem;
use std::sync::Arc;
use std::thread;

/// Stack of a thread that computes bindings, in bytes: their patterns are as deep as the query.
const STACK_BYTES: usize = 64 << 20;

/// Maximum number of rows of a bounded service; see [`Services::is_bounded`].
const MAX_BOUNDED_ROWS: usize = 1000;

/// Prefix of provenance variables.
const PROVENANCE: &str = "provenance_";

/// Evaluation context of a query once every `SERVICE` has its row source. Dropping it ends the sources.
pub(crate) struct Federated {
    pub(crate) evaluation: EvaluationContext,
    /// Set when no reader is left. Separate from the query's own token, which marks cancelled queries.
    finished: CancellationToken,
}

impl Drop for Federated {
    fn drop(&mut self) {
        self.finished.cancel();
    }
}

/// Service handler of Oxigraph that reads received rows.
pub(crate) struct Reader(pub(crate) Arc<ServiceRows>);

impl ServiceHandler for Reader {
    type Error = Infallible;

    fn handle(
        &self,
        _: &GraphPattern,
        _: Option<&oxiri::Iri<String>>,
    ) -> Result<QuerySolutionIter<'static>, Infallible> {
        Ok(self.0.solutions())
    }
}

/// Returns the services of a request.
pub(crate) fn services_of(request: &QueryRequest) -> Arc<dyn Services> {
    request
        .services
        .clone()
        .unwrap_or_else(|| Arc::new(NoServices))
}

/// Moves patterns whose property a service computes into a `SERVICE`, and checks the number of services.
pub(crate) fn expand(
    query: &mut Query,
    services: &dyn Services,
    limits: &SparqlLimits,
) -> Result<(), SparqlError> {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    if has_property(pattern, services) {
        name_blank_nodes(pattern); // they may occur in both parts of a pattern
        properties_to_services(pattern, services);
    }
    if count_services(pattern) > limits.services {
        return Err(SparqlError::TooLarge(format!(
            "it has more than {} SERVICE",
            limits.services
        )));
    }
    Ok(())
}

/// Replaces every `SERVICE` of a query by a source of its rows, and starts to request them.
pub(crate) fn resolve(
    query: &mut Query,
    evaluation: EvaluationContext,
    request: &QueryRequest,
    limits: &SparqlLimits,
) -> Result<Federated, SparqlError> {
    let services = services_of(request);
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let finished = CancellationToken::new();
    let (provenance, max_rows) = (request.provenance, limits.service_rows);
    let mut plan = Plan {
        evaluation,
        finished,
        services,
        jobs: Vec::new(),
        max_rows,
        provenance,
    };
    if has_service(pattern) {
        *pattern = plan.resolve(mem::take(pattern), &Surroundings::default());
        if provenance == Provenance::PerService {
            project_provenance(pattern);
        }
    }
    plan.start()
}

/// Returns the service that computes the values of the property of a triple pattern.
fn service_of(triple: &TriplePattern, services: &dyn Services) -> Option<NamedNode> {
    match &triple.predicate {
        NamedNodePattern::NamedNode(property) => services.of_property(property),
        NamedNodePattern::Variable(_) => None,
    }
}

/// Returns true if a service computes the values of a property of the pattern.
fn has_property(pattern: &mut GraphPattern, services: &dyn Services) -> bool {
    let mut found = match pattern {
        GraphPattern::Service { .. } => return false,
        GraphPattern::Bgp { patterns } => patterns
            .iter()
            .any(|triple| service_of(triple, services).is_some()),
        _ => false,
    };
    each_inside(pattern, &mut |inner| found |= has_property(inner, services));
    found
}

/// Moves triple patterns whose property a service computes into a `SERVICE`.
fn properties_to_services(pattern: &mut GraphPattern, services: &dyn Services) {
    if let GraphPattern::Bgp { patterns } = pattern {
        let mut by_service: BTreeMap<NamedNode, Vec<TriplePattern>> = BTreeMap::new();
        patterns.retain(|triple| {
            service_of(triple, services).is_none_or(|service| {
                by_service.entry(service).or_default().push(triple.clone());
                false
            })
        });
        for (service, patterns) in by_service {
            let inner = Box::new(GraphPattern::Bgp { patterns });
            let call = GraphPattern::Service {
                name: service.into(),
                inner,
                silent: false,
            };
            *pattern = GraphPattern::Join {
                left: Box::new(mem::take(pattern)),
                right: Box::new(call),
            };
        }
    } else if !matches!(pattern, GraphPattern::Service { .. }) {
        each_inside(pattern, &mut |inner| {
            properties_to_services(inner, services)
        });
        if let GraphPattern::Graph { inner, .. } = pattern {
            let mut calls = Vec::new();
            lift_services(inner, services, &mut calls);
            *pattern = calls.into_iter().fold(mem::take(pattern), join_patterns);
        }
    }
}

/// Moves the services that compute properties out of a join: their triples are in no graph.
fn lift_services(
    pattern: &mut GraphPattern,
    services: &dyn Services,
    into: &mut Vec<GraphPattern>,
) {
    match pattern {
        GraphPattern::Join { left, right } => {
            lift_services(left, services, into);
            lift_services(right, services, into);
        }
        GraphPattern::Service {
            inner,
            silent: false,
            ..
        } if has_only_properties(inner, services) => {
            into.push(mem::take(pattern));
        }
        _ => {}
    }
}

/// Returns true if services compute all properties of a pattern.
fn has_only_properties(pattern: &GraphPattern, services: &dyn Services) -> bool {
    let GraphPattern::Bgp { patterns } = pattern else {
        return false;
    };
    !patterns.is_empty()
        && patterns
            .iter()
            .all(|triple| service_of(triple, services).is_some())
}

/// Patterns joined with the current pattern.
#[derive(Clone, Default)]
struct Surroundings {
    /// Each solution of the whole query is compatible with a solution of each of these.
    patterns: Vec<GraphPattern>,
    /// Conditions of each solution of the whole query, over the variables that the patterns from an index on bind.
    filters: Vec<(usize, Expression)>,
    /// Enclosing `GRAPH`s, the outermost first.
    graphs: Vec<NamedNodePattern>,
    /// On the right of `MINUS`: the variables that patterns inside of it bind in every solution.
    bound_in_minus: Option<Variables>,
}

impl Surroundings {
    /// Returns these with a further pattern, inside the enclosing graphs.
    fn with_pattern(&self, pattern: &GraphPattern) -> Self {
        let mut more = self.clone();
        let mut pattern = pattern.clone();
        for name in self.graphs.iter().rev() {
            pattern = GraphPattern::Graph {
                name: name.clone(),
                inner: Box::new(pattern),
            };
        }
        if let Some(bound) = &mut more.bound_in_minus {
            bound.extend(certain_variables(&pattern));
        }
        more.patterns.push(pattern);
        more
    }

    /// Returns the surroundings of the right side of a `MINUS`. Its left side restricts the solutions that are needed, but binds nothing
    /// in them.
    fn inside_minus(&self, left: &GraphPattern) -> Self {
        Self {
            bound_in_minus: Some(Variables::new()),
            ..self.barrier().with_pattern(left)
        }
    }

    fn with_all<'p>(&self, patterns: impl IntoIterator<Item = &'p GraphPattern>) -> Self {
        patterns
            .into_iter()
            .fold(self.clone(), |more, pattern| more.with_pattern(pattern))
    }

    fn with_filter(&self, filter: &Expression) -> Self {
        let mut more = self.clone();
        more.filters.push((self.patterns.len(), filter.clone()));
        more
    }

    /// Returns these inside a further `GRAPH`.
    fn inside_graph(&self, graph: &NamedNodePattern) -> Self {
        let mut more = self.clone();
        more.graphs.push(graph.clone());
        more
    }

    /// Returns the graphs alone: no outer pattern may restrict an inner one.
    fn barrier(&self) -> Self {
        Self {
            graphs: self.graphs.clone(),
            ..Self::default()
        }
    }

    /// Returns the part that remains inside a sub-select, where only projected variables are the same as outside.
    fn inside_projection(&self, variables: &[Variable]) -> Self {
        let mut inside = self.barrier();
        let shared: Variables = variables.iter().cloned().collect();
        inside.bound_in_minus = self.bound_in_minus.as_ref().map(|bound| bound & &shared);
        if let Some(pattern) = self.restricting_patterns(&shared) {
            let variables = in_scope(&pattern).intersection(&shared).cloned().collect();
            // The restricting patterns have their graphs already.
            inside.patterns.push(GraphPattern::Project {
                inner: Box::new(pattern),
                variables,
            });
        }
        inside
    }

    /// Returns the conditions over bound variables alone that a request may contain.
    fn conditions(&self, bound: &Variables) -> Vec<Expression> {
        self.filters
            .iter()
            .filter_map(|(_, filter)| portable_condition(filter))
            .filter(|condition| read_by(condition).is_some_and(|read| read.is_subset(bound)))
            .collect()
    }

    /// Returns true if a solution of the context may bind a variable.
    fn may_bind(&self, variable: &Variable) -> bool {
        self.patterns
            .iter()
            .any(|pattern| in_scope(pattern).contains(variable))
    }

    fn certain(&self) -> Variables {
        self.patterns.iter().flat_map(certain_variables).collect()
    }

    /// Returns the join of the patterns connected with some variables, directly or through others, with its filters. `None` if there
    /// is no such pattern.
    fn restricting_patterns(&self, variables: &Variables) -> Option<GraphPattern> {
        let mut reached = variables.clone();
        let mut chosen = vec![false; self.patterns.len()];
        loop {
            let next = (0..chosen.len()).find(|&place| {
                !chosen[place] && !in_scope(&self.patterns[place]).is_disjoint(&reached)
            });
            let Some(place) = next else { break };
            chosen[place] = true;
            reached.extend(in_scope(&self.patterns[place]));
        }
        let chosen = self
            .patterns
            .iter()
            .enumerate()
            .filter(|(place, _)| chosen[*place]);
        let mut restricting = chosen
            .clone()
            .map(|(_, pattern)| pattern.clone())
            .reduce(join_patterns)?;
        for (start, filter) in &self.filters {
            let bound: Variables = chosen
                .clone()
                .filter(|(place, _)| place >= start)
                .flat_map(|(_, pattern)| certain_variables(pattern))
                .collect();
            if read_by(filter).is_some_and(|read| read.is_subset(&bound)) {
                restricting = GraphPattern::Filter {
                    expr: filter.clone(),
                    inner: Box::new(restricting),
                };
            }
        }
        Some(restricting)
    }
}

fn join_patterns(left: GraphPattern, right: GraphPattern) -> GraphPattern {
    GraphPattern::Join {
        left: Box::new(left),
        right: Box::new(right),
    }
}

/// Collects the operands of nested joins.
fn collect_conjuncts(pattern: GraphPattern, into: &mut Vec<GraphPattern>) {
    match pattern {
        GraphPattern::Join { left, right } => {
            collect_conjuncts(*left, into);
            collect_conjuncts(*right, into);
        }
        other => into.push(other),
    }
}

struct Plan {
    evaluation: EvaluationContext,
    finished: CancellationToken,
    services: Arc<dyn Services>,
    jobs: Vec<(Arc<ServiceRows>, RowSourceInputs)>,
    max_rows: usize,
    provenance: Provenance,
}

impl Plan {
    /// Replaces every `SERVICE` of a pattern by a source of its rows.
    fn resolve(&mut self, mut pattern: GraphPattern, around: &Surroundings) -> GraphPattern {
        if !has_service(&pattern) {
            return pattern;
        }
        match &mut pattern {
            GraphPattern::Service {
                name,
                inner,
                silent,
            } => return self.add_row_source(name, mem::take(inner.as_mut()), *silent, around),
            GraphPattern::Join { .. } => return self.resolve_join(pattern, around),
            GraphPattern::LeftJoin {
                left,
                right,
                expression,
            } => {
                self.resolve_in_place(left, around);
                let mut inside = around.barrier().with_pattern(left);
                inside
                    .filters
                    .extend(expression.clone().map(|expression| (0, expression)));
                self.resolve_in_place(right, &inside);
            }
            GraphPattern::Minus { left, right } => {
                self.resolve_in_place(left, around);
                self.resolve_in_place(right, &around.inside_minus(left));
            }
            GraphPattern::Filter { expr, inner } => {
                self.resolve_in_place(inner, &around.with_filter(expr))
            }
            GraphPattern::Project { inner, variables } => {
                self.resolve_in_place(inner, &around.inside_projection(variables))
            }
            GraphPattern::Graph { name, inner } => {
                self.resolve_in_place(inner, &around.inside_graph(name))
            }
            // Inside these each row counts, joined or not.
            GraphPattern::Group { inner, .. } | GraphPattern::Slice { inner, .. } => {
                self.resolve_in_place(inner, &around.barrier());
            }
            other => each_child(other, &mut |inner| self.resolve_in_place(inner, around)),
        }
        self.in_expressions(&mut pattern, around);
        pattern
    }

    fn resolve_in_place(&mut self, pattern: &mut GraphPattern, around: &Surroundings) {
        *pattern = self.resolve(mem::take(pattern), around);
    }

    /// Resolves services inside `EXISTS`, which is joined with the solutions that it filters.
    fn in_expressions(&mut self, pattern: &mut GraphPattern, around: &Surroundings) {
        let mut filtered = None;
        each_child(pattern, &mut |inner| {
            filtered.get_or_insert_with(|| inner.clone()); // the left side of a left join, whose solutions are never removed
        });
        let inside = match filtered {
            Some(inner) => around.barrier().with_pattern(&inner),
            None => around.barrier(),
        };
        each_exists(pattern, &mut |inner| self.resolve_in_place(inner, &inside));
    }

    /// Resolves a join. Local patterns come first. Services that share variables with them are called at once; one that
    /// shares variables only with other services waits for them. If nothing is shared, the service with the most
    /// constants starts.
    fn resolve_join(&mut self, pattern: GraphPattern, around: &Surroundings) -> GraphPattern {
        let mut parts = Vec::new();
        collect_conjuncts(pattern, &mut parts);
        let (mut federated, local): (Vec<_>, Vec<_>) = parts.into_iter().partition(has_service);
        let local_context = around.with_all(&local);
        let mut resolved = local;
        let mut context = local_context.clone();
        while !federated.is_empty() {
            let next = next_part(&federated, &local_context, &context, self.services.as_ref());
            let part = federated.remove(next);
            let restricting = if restricts_part(&local_context, &part) {
                &local_context
            } else {
                &context
            };
            let part = self.resolve(part, restricting);
            context = context.with_pattern(&part);
            resolved.push(part);
        }
        resolved
            .into_iter()
            .reduce(join_patterns)
            .unwrap_or_default()
    }

    /// Creates the row source of one `SERVICE` in the form that Oxigraph reads: its pattern is never evaluated and only
    /// lists the variables.
    fn add_row_source(
        &mut self,
        name: &NamedNodePattern,
        pattern: GraphPattern,
        silent: bool,
        around: &Surroundings,
    ) -> GraphPattern {
        let variables: Vec<Variable> = in_scope(&pattern).into_iter().collect();
        let bound = certain_variables(&pattern);
        let mut keys: Variables = &bound & &around.certain();
        let mut is_small = false;
        let mut needed_keys = Vec::new();
        if let NamedNodePattern::NamedNode(name) = name {
            let needed = self.services.needs(name, &pattern);
            // One request for all rows is cheaper than computing the bindings.
            if needed.is_empty() && self.services.is_bounded(name, &pattern) {
                keys.clear();
                is_small = true;
            }
            needed_keys = needed
                .into_iter()
                .filter(|needed| around.may_bind(needed))
                .collect();
            keys.extend(needed_keys.iter().cloned());
        }
        let requested =
            around
                .conditions(&bound)
                .into_iter()
                .fold(pattern.clone(), |inner, expr| GraphPattern::Filter {
                    expr,
                    inner: Box::new(inner),
                });
        let mut shared = keys.clone();
        let mut all = variables.clone();
        let target = match name {
            NamedNodePattern::NamedNode(name) => Target::Constant(name.clone()),
            NamedNodePattern::Variable(name) => {
                shared.insert(name.clone());
                if !all.contains(name) {
                    all.push(name.clone());
                }
                Target::Each(name.clone())
            }
        };
        let context = around
            .restricting_patterns(&shared)
            .filter(|_| !shared.is_empty())
            .map(|inner| {
                let variables = in_scope(&inner).intersection(&shared).cloned().collect();
                let inner = Box::new(GraphPattern::Project {
                    inner: Box::new(inner),
                    variables,
                });
                let keys = keys.into_iter().collect();
                Context {
                    keys,
                    needed: needed_keys,
                    pattern: GraphPattern::Distinct { inner },
                }
            });
        let bound_outside = match &around.bound_in_minus {
            Some(bound) => &shared & bound,
            None => shared,
        };
        let provenance = (self.provenance == Provenance::PerService)
            .then(|| Variable::new_unchecked(format!("{PROVENANCE}{}", self.jobs.len() + 1)));
        all.extend(provenance.clone());
        let rows = ServiceRows::new(all, [self.evaluation.token.clone(), self.finished.clone()]);
        let own = NamedNode::new_unchecked(format!(
            "urn:lodeseek:service:{}",
            self.evaluation.service_rows.len()
        ));
        let job = RowSourceInputs {
            target,
            pattern: requested,
            variables,
            silent,
            bound_outside,
            context,
            services: Arc::clone(&self.services),
            evaluation: EvaluationContext {
                token: self.finished.clone(),
                ..self.evaluation.clone()
            },
            max_rows: self.max_rows,
        };
        self.evaluation
            .service_rows
            .push((own.clone(), Arc::clone(&rows)));
        self.jobs.push((rows, job));
        let mut inner = match name {
            // Oxigraph estimates the number of rows by this pattern. With few rows, it begins with them.
            NamedNodePattern::NamedNode(_) if is_small => GraphPattern::Slice {
                inner: Box::new(pattern),
                start: 0,
                length: Some(MAX_BOUNDED_ROWS),
            },
            NamedNodePattern::NamedNode(_) => pattern,
            NamedNodePattern::Variable(name) => join_patterns(single_value(name, &own), pattern),
        };
        if let Some(provenance) = &provenance {
            inner = join_patterns(single_value(provenance, &own), inner);
        }
        // A constant graph name hides the variable of a surrounding `GRAPH`. Otherwise each row would have to bind that variable.
        let inner = GraphPattern::Graph {
            name: own.clone().into(),
            inner: Box::new(inner),
        };
        GraphPattern::Service {
            name: own.into(),
            inner: Box::new(inner),
            silent,
        }
    }

    /// Starts a thread for each service that requests its rows.
    fn start(self) -> Result<Federated, SparqlError> {
        for (rows, job) in self.jobs {
            thread::Builder::new()
                .name("service".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || rows.fill(&job))
                .map_err(evaluation_error)?;
        }
        Ok(Federated {
            evaluation: self.evaluation,
            finished: self.finished,
        })
    }
}

/// Projects the provenance variables that the outermost pattern binds.
fn project_provenance(pattern: &mut GraphPattern) {
    match pattern {
        GraphPattern::Project { inner, variables } => {
            variables.extend(
                in_scope(inner)
                    .into_iter()
                    .filter(|variable| variable.as_str().starts_with(PROVENANCE)),
            );
        }
        GraphPattern::Slice { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner } => {
            project_provenance(inner);
        }
        _ => {}
    }
}

/// Returns a table of one value.
fn single_value(variable: &Variable, value: &NamedNode) -> GraphPattern {
    let bindings = vec![vec![Some(GroundTerm::NamedNode(value.clone()))]];
    GraphPattern::Values {
        variables: vec![variable.clone()],
        bindings,
    }
}

/// Returns true if the context restricts variables of a part, or the name of its service.
fn restricts_part(around: &Surroundings, part: &GraphPattern) -> bool {
    if let GraphPattern::Service {
        name: NamedNodePattern::Variable(name),
        ..
    } = part
    {
        return around.may_bind(name);
    }
    !around.certain().is_disjoint(&in_scope(part))
}

/// Returns true if everything that a service needs is bound.
fn is_ready(part: &GraphPattern, around: &Surroundings, services: &dyn Services) -> bool {
    match part {
        GraphPattern::Service {
            name: NamedNodePattern::NamedNode(name),
            inner,
            ..
        } => services
            .needs(name, inner)
            .iter()
            .all(|needed| around.may_bind(needed)),
        _ => true,
    }
}

/// Returns the index of the part to call next. The criteria in this order: its needed variables are bound; local patterns restrict
/// it; answers of other services restrict it; it has more constants; it is written first.
fn next_part(
    parts: &[GraphPattern],
    local: &Surroundings,
    context: &Surroundings,
    services: &dyn Services,
) -> usize {
    let best = (0..parts.len()).max_by_key(|&place| {
        let part = &parts[place];
        (
            is_ready(part, context, services),
            restricts_part(local, part),
            restricts_part(context, part),
            weigh_constants(part),
            std::cmp::Reverse(place),
        )
    });
    best.unwrap_or(0)
}
